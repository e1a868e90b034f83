; The truncated fused sum of a matrix unit, over integers and rational numbers: written by hand from the papers,
; with the parameters as arguments. No bit vectors, and nothing that tcsmt writes.
;
;   Khattak and Mikaitis 2025, IV; Valpey et al. 2025, Algorithm 1; Xie et al. 2025 (MMA-Sim), III:
;   the products are exact; all terms are shifted to the largest exponent, and bits beyond F fraction bits are
;   cut off there; what is left is added exactly, and the sum is rounded once.
;
; (ash x k) is floor(x * 2^k), (loghead n x) is x modulo 2^n, (integer-length x) the number of bits of x.

(in-package "ACL2")
(include-book "ihs/basic-definitions" :dir :system)

; A binary format is (list e m specials): e exponent bits, m fraction bits, and which words are special:
;   :ieee      at the largest exponent field, infinities (fraction 0) and NaNs
;   :nan-only  all ones is a NaN; there are no infinities
;   :finite    every word is a number
; A word is sign, exponent field and fraction field.
(defun exponent-bits (fmt) (car fmt))
(defun fraction-bits (fmt) (cadr fmt))
(defun specials (fmt) (caddr fmt))
(defun sign-of (w fmt) (ash w (- (+ (exponent-bits fmt) (fraction-bits fmt)))))
(defun field-of (w fmt) (loghead (exponent-bits fmt) (ash w (- (fraction-bits fmt)))))
(defun fraction-of (w fmt) (loghead (fraction-bits fmt) w))
(defun bias-of (fmt) (- (ash 1 (- (exponent-bits fmt) 1)) 1))
(defun largest-field (fmt) (- (ash 1 (exponent-bits fmt)) 1))
(defun largest-fraction (fmt) (- (ash 1 (fraction-bits fmt)) 1))

(defun infinite-p (w fmt)
  (and (equal (specials fmt) :ieee)
       (equal (field-of w fmt) (largest-field fmt))
       (equal (fraction-of w fmt) 0)))
(defun nan-p (w fmt)
  (and (equal (field-of w fmt) (largest-field fmt))
       (case (specials fmt)
         (:ieee (not (equal (fraction-of w fmt) 0)))
         (:nan-only (equal (fraction-of w fmt) (largest-fraction fmt))))))
(defun zero-p (w fmt)
  (and (equal (field-of w fmt) 0) (equal (fraction-of w fmt) 0)))

; Another word is a number: (-1)^sign * significand * 2^(exponent - m).
(defun significand-of (w fmt)
  (if (equal (field-of w fmt) 0)
      (fraction-of w fmt)
    (+ (ash 1 (fraction-bits fmt)) (fraction-of w fmt))))
(defun exponent-of (w fmt)
  (- (max 1 (field-of w fmt)) (bias-of fmt)))
(defun value-of (w fmt)
  (* (if (equal (sign-of w fmt) 1) -1 1)
     (significand-of w fmt)
     (expt 2 (- (exponent-of w fmt) (fraction-bits fmt)))))

; A term is (list exponent value). The exponent of a zero is a parameter.
(defun term-of (exponent value zero)
  (list (if (equal value 0) zero exponent) value))
(defun product-of (a b af bf zero)
  (term-of (+ (exponent-of a af) (exponent-of b bf)) (* (value-of a af) (value-of b bf)) zero))
(defun number-of (c cf zero)
  (term-of (exponent-of c cf) (value-of c cf) zero))
(defun products-of (as bs af bf zero)
  (if (consp as)
      (cons (product-of (car as) (car bs) af bf zero)
            (products-of (cdr as) (cdr bs) af bf zero))
    nil))

(defun largest-of (terms)
  (if (consp (cdr terms))
      (max (car (car terms)) (largest-of (cdr terms)))
    (car (car terms))))

; In units of 2^(largest - f), cut off toward zero.
(defun aligned-of (term largest f)
  (truncate (* (cadr term) (expt 2 (- f largest))) 1))
(defun sum-of (terms largest f)
  (if (consp terms)
      (+ (aligned-of (car terms) largest f) (sum-of (cdr terms) largest f))
    0))

; A number that is not negative as an integer: cut off (:rtz), or the nearest one, the even one of two (:rne).
(defun integer-near (x mode)
  (let* ((low (floor x 1))
         (rest (- x low)))
    (if (and (equal mode :rne)
             (or (< 1/2 rest) (and (equal rest 1/2) (equal (mod low 2) 1))))
        (+ low 1)
      low)))

; The word of s * 2^q with p fraction bits: what is too large is an infinity, and zero is positive.
(defun rounded-of (s q fmt p mode)
  (let* ((size (abs s))
         (exponent (max (- 1 (bias-of fmt)) (+ q (- (integer-length size) 1))))
         (digits (integer-near (* size (expt 2 (- q (- exponent p)))) mode))
         (word (ash (+ (ash (+ exponent (bias-of fmt) -1) p) digits) (- (fraction-bits fmt) p)))
         (infinity (ash (largest-field fmt) (fraction-bits fmt))))
    (if (or (equal s 0) (equal digits 0))
        0
      (+ (if (< s 0) (ash 1 (+ (exponent-bits fmt) (fraction-bits fmt))) 0)
         (min word infinity)))))

; Of NaNs, infinities times zero, and infinities of both signs comes a NaN; of other infinities an infinity.
(defun nan-product-p (a b af bf)
  (or (nan-p a af) (nan-p b bf)
      (and (infinite-p a af) (zero-p b bf))
      (and (zero-p a af) (infinite-p b bf))))
(defun some-nan-product-p (as bs af bf)
  (and (consp as)
       (or (nan-product-p (car as) (car bs) af bf)
           (some-nan-product-p (cdr as) (cdr bs) af bf))))
(defun infinite-product-p (negative a b af bf)
  (and (or (infinite-p a af) (infinite-p b bf))
       (equal (not (equal (sign-of a af) (sign-of b bf))) negative)))
(defun some-infinite-product-p (negative as bs af bf)
  (and (consp as)
       (or (infinite-product-p negative (car as) (car bs) af bf)
           (some-infinite-product-p negative (cdr as) (cdr bs) af bf))))
(defun infinity-p (negative as bs c af bf cf)
  (or (and (infinite-p c cf) (equal (equal (sign-of c cf) 1) negative))
      (some-infinite-product-p negative as bs af bf)))

; One sum: words as of format af, bs of bf, c of cf, and the result of df. The register holds a sign, the two
; integer bits of a product, f fraction bits and some carry bits; (logext n x) is x in n bits, two's complement.
(defun fused-sum (as bs c af bf cf df f carry zero p mode nan)
  (let* ((terms (cons (number-of c cf zero) (products-of as bs af bf zero)))
         (largest (largest-of terms))
         (infinity (ash (largest-field df) (fraction-bits df)))
         (sign (ash 1 (+ (exponent-bits df) (fraction-bits df)))))
    (cond ((or (nan-p c cf)
               (some-nan-product-p as bs af bf)
               (and (infinity-p nil as bs c af bf cf) (infinity-p t as bs c af bf cf)))
           nan)
          ((infinity-p nil as bs c af bf cf) infinity)
          ((infinity-p t as bs c af bf cf) (+ sign infinity))
          (t (rounded-of (logext (+ 3 f carry) (sum-of terms largest f)) (- largest f) df p mode)))))

; The unit: as and bs in blocks, the result of each sum the c of the next.
(defun fused-sums (as bs c af bf cf df f carry zero p mode nan)
  (if (consp as)
      (fused-sums (cdr as) (cdr bs)
                  (fused-sum (car as) (car bs) c af bf cf df f carry zero p mode nan)
                  af bf df df f carry zero p mode nan)
    c))
