; The truncated fused sum of a matrix unit, over integers: written by hand from the papers, with the parameters
; as arguments. No bit vectors, and nothing that tcsmt writes.
;
;   Khattak and Mikaitis 2025, IV; Valpey et al. 2025, Algorithm 1; Xie et al. 2025 (MMA-Sim), III:
;   the products are exact; all terms are shifted to the largest exponent, and bits beyond F fraction bits are
;   cut off there; what is left is added exactly, and the sum is rounded once.
;
; (ash x k) is floor(x * 2^k), (loghead n x) is x modulo 2^n, (integer-length x) the number of bits of x.

(in-package "ACL2")
(include-book "ihs/basic-definitions" :dir :system)

; A binary format of e exponent bits and m fraction bits: a word is sign, exponent field and fraction field.
(defun sign-of (w e m) (ash w (- (+ e m))))
(defun field-of (w e m) (loghead e (ash w (- m))))
(defun fraction-of (w m) (loghead m w))
(defun bias-of (e) (- (ash 1 (- e 1)) 1))

; The value of a finite word is (-1)^sign * significand * 2^(exponent - m).
(defun significand-of (w e m)
  (if (equal (field-of w e m) 0)
      (fraction-of w m)
    (+ (ash 1 m) (fraction-of w m))))
(defun exponent-of (w e m)
  (- (max 1 (field-of w e m)) (bias-of e)))
(defun finite-p (w e m)
  (not (equal (field-of w e m) (- (ash 1 e) 1))))

; A term is (list negative magnitude exponent point): (-1)^negative * magnitude * 2^(exponent - point).
; The exponent of a zero is a parameter.
(defun term-of (negative magnitude exponent point zero)
  (list negative magnitude (if (equal magnitude 0) zero exponent) point))
(defun product-of (a b e m zero)
  (term-of (not (equal (sign-of a e m) (sign-of b e m)))
           (* (significand-of a e m) (significand-of b e m))
           (+ (exponent-of a e m) (exponent-of b e m))
           (* 2 m)
           zero))
(defun number-of (c e m zero)
  (term-of (equal (sign-of c e m) 1) (significand-of c e m) (exponent-of c e m) m zero))
(defun products-of (as bs e m zero)
  (if (consp as)
      (cons (product-of (car as) (car bs) e m zero)
            (products-of (cdr as) (cdr bs) e m zero))
    nil))

(defun largest-of (terms)
  (if (consp (cdr terms))
      (max (caddr (car terms)) (largest-of (cdr terms)))
    (caddr (car terms))))

; In units of 2^(largest - f): the magnitude is cut, then the sign is applied.
(defun aligned-of (term largest f)
  (let ((magnitude (ash (cadr term) (+ f (- (caddr term) largest) (- (cadddr term))))))
    (if (car term) (- magnitude) magnitude)))
(defun sum-of (terms largest f)
  (if (consp terms)
      (+ (aligned-of (car terms) largest f) (sum-of (cdr terms) largest f))
    0))

; The word of s * 2^q, rounded toward zero; what is too large is an infinity, and zero is positive.
(defun rounded-toward-zero (s q e m)
  (let* ((size (abs s))
         (exponent (max (- 1 (bias-of e)) (+ q (- (integer-length size) 1))))
         (digits (ash size (- q (- exponent m))))
         (word (if (< digits (ash 1 m))
                   digits
                 (+ (ash (+ exponent (bias-of e)) m) (- digits (ash 1 m)))))
         (infinity (ash (- (ash 1 e) 1) m)))
    (if (equal s 0)
        0
      (+ (if (< s 0) (ash 1 (+ e m)) 0) (min word infinity)))))

; The unit: words as and bs of format (ae, am), c and the result of format (ce, cm), f fraction bits.
(defun truncated-fused-sum (as bs c ae am ce cm f zero)
  (let* ((terms (cons (number-of c ce cm zero) (products-of as bs ae am zero)))
         (largest (largest-of terms)))
    (rounded-toward-zero (sum-of terms largest f) (- largest f) ce cm)))
