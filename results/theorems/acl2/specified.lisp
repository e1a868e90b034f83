; What ties the specification to words that are shifted: for all parameters, each of its steps is a shift of
; integers. Nothing in here is to be believed: ACL2 proves it. It is for the books of units; who reads their
; theorems needs specification.lisp alone.

(in-package "ACL2")
(include-book "specification")
(local (include-book "arithmetic-5/top" :dir :system))

(defun format-p (fmt)
  (and (posp (exponent-bits fmt)) (natp (fraction-bits fmt))))
(defun number-p (w fmt) (and (not (nan-p w fmt)) (not (infinite-p w fmt))))

(defun shifted-of (magnitude negative k n)
  (let ((v (ash (ash magnitude k) (- n)))) (if negative (- v) v)))

(local (defthm floor-of-floor
  (implies (and (rationalp x) (natp n))
           (equal (floor (* (floor x 1) (expt 2 (- n))) 1)
                  (floor (* x (expt 2 (- n))) 1)))))

(local (defthm ash-twice
  (implies (and (integerp m) (integerp k) (natp n))
           (equal (ash (ash m k) (- n))
                  (floor (* m (expt 2 (- k n))) 1)))
  :hints (("Goal" :in-theory (enable ash) :use ((:instance floor-of-floor (x (* m (expt 2 k)))))))))

(local (defthm truncate-of-minus
  (implies (rationalp x) (equal (truncate (- x) 1) (- (truncate x 1))))))
(local (defthm truncate-is-floor
  (implies (and (rationalp x) (<= 0 x)) (equal (truncate x 1) (floor x 1)))))

(local (defthm shifted-is-truncated
  (implies (and (natp magnitude) (integerp k) (natp n))
           (equal (shifted-of magnitude negative k n)
                  (truncate (* (if negative (- magnitude) magnitude) (expt 2 (- k n))) 1)))
  :hints (("Goal" :in-theory (disable truncate floor)
    :use ((:instance truncate-of-minus (x (* magnitude (expt 2 (- k n)))))
          (:instance truncate-is-floor (x (* magnitude (expt 2 (- k n))))))))))
(local (defthm fraction-natural (natp (fraction-of w fmt)) :hints (("Goal" :in-theory (enable loghead)))
  :rule-classes :type-prescription))
(local (defthm field-natural (natp (field-of w fmt)) :hints (("Goal" :in-theory (enable loghead)))
  :rule-classes :type-prescription))
(local (defthm hidden-bit (implies (natp m) (posp (ash 1 m))) :hints (("Goal" :in-theory (enable ash)))
  :rule-classes :type-prescription))
(local (in-theory (disable fraction-of field-of)))
(local (defthm significand-natural
  (implies (format-p fmt) (natp (significand-of w fmt)))
  :rule-classes :type-prescription))
(local (defthm significand-zero
  (implies (format-p fmt) (equal (equal (significand-of w fmt) 0) (zero-p w fmt)))))
(local (defthm bias-integer (integerp (bias-of fmt)) :rule-classes :type-prescription))
(local (defthm exponent-integer (integerp (exponent-of w fmt)) :rule-classes :type-prescription))
(local (in-theory
  (disable significand-of exponent-of zero-p sign-of format-p bias-of fraction-bits exponent-bits)))
(local (defthm fraction-bits-natural (implies (format-p fmt) (natp (fraction-bits fmt))) :hints (("Goal"
  :in-theory (enable format-p))) :rule-classes :forward-chaining))
(local (defthm value-zero
  (implies (format-p fmt) (equal (equal (value-of w fmt) 0) (zero-p w fmt)))
  :hints (("Goal" :use significand-zero))))

(defthm exponent-of-product
  (implies (and (format-p af) (format-p bf))
           (equal (car (product-of a b af bf zero))
                  (if (or (zero-p a af) (zero-p b bf)) zero (+ (exponent-of a af) (exponent-of b bf)))))
  :hints (("Goal" :in-theory (disable value-of))))
(defthm exponent-of-number
  (implies (format-p cf)
           (equal (car (number-of c cf zero))
                  (if (zero-p c cf) zero (exponent-of c cf))))
  :hints (("Goal" :in-theory (disable value-of))))

(local (defthm nothing-shifted (equal (shifted-of 0 negative k n) 0) :hints (("Goal"
  :in-theory (enable ash)))))
(local (defthm loghead-small
  (implies (and (natp x) (natp w) (< x (expt 2 w))) (equal (loghead w x) x))
  :hints (("Goal" :in-theory (enable loghead)))))
(local (in-theory (disable shifted-of truncate loghead)))

(local (defun with-sign (negative x) (if negative (- x) x)))
(local (defthm product-with-signs
  (equal (* (with-sign n x) (with-sign m y)) (with-sign (not (equal (not n) (not m))) (* x y)))
  :rule-classes nil))
(local (defthm value-with-sign
  (equal (value-of w fmt)
         (* (with-sign (equal (sign-of w fmt) 1) (significand-of w fmt))
            (expt 2 (- (exponent-of w fmt) (fraction-bits fmt)))))
  :rule-classes nil))
(local (defthm shifted-with-sign
  (implies (and (natp magnitude) (integerp k) (natp n))
           (equal (shifted-of magnitude negative k n)
                  (truncate (* (with-sign negative magnitude) (expt 2 (- k n))) 1)))
  :rule-classes nil))
(local (defthm rational-with-sign (implies (rationalp x) (rationalp (with-sign n x)))
  :rule-classes :type-prescription))
(local (in-theory (disable with-sign value-of)))
(local (defthm of-one-power
  (implies (and (integerp i) (integerp j))
           (equal (* (expt 2 i) (expt 2 j)) (expt 2 (+ i j))))
  :rule-classes nil))
(local (defthm aligned-magnitude
  (implies (and (natp magnitude) (integerp e) (integerp point) (integerp l) (integerp f) (natp w)
                (<= e l) (< (- l e) (expt 2 w)))
           (equal (truncate (* (* (with-sign negative magnitude) (expt 2 (- e point))) (expt 2 (- f l))) 1)
                  (shifted-of magnitude negative (- f point) (loghead w (- l e)))))
  :rule-classes nil
  :hints (("Goal" :in-theory (disable shifted-is-truncated)
    :use ((:instance shifted-with-sign (k (- f point)) (n (- l e)))
          (:instance of-one-power (i (- e point)) (j (- f l)))
          (:instance loghead-small (x (- l e))))))))
(local (defthm integerp-of-sum (implies (and (integerp x) (integerp y)) (integerp (+ x y)))))
(local (defthm natp-of-product (implies (and (natp x) (natp y)) (natp (* x y)))))
(local (defthm zero-of-product (implies (and (rationalp x) (rationalp y)) (equal (equal (* x y) 0) (or
  (equal x 0) (equal y 0))))))
(local (defthm rational-value (implies (format-p fmt) (rationalp (value-of w fmt)))
  :rule-classes :type-prescription :hints (("Goal" :in-theory (enable value-of)))))
(local (defthm regrouped (equal (* (* a b) (* c d)) (* (* a c) (* b d))) :rule-classes nil))
(local (defthm value-of-product
  (implies (and (format-p af) (format-p bf))
           (equal (* (value-of a af) (value-of b bf))
             (* (with-sign (not (equal (equal (sign-of a af) 1) (equal (sign-of b bf) 1)))
                           (* (significand-of a af) (significand-of b bf)))
                (expt 2 (- (+ (exponent-of a af) (exponent-of b bf)) (+ (fraction-bits af)
                  (fraction-bits bf)))))))
  :rule-classes nil
  :hints (("Goal" :in-theory (disable significand-of exponent-of)
      :use ((:instance of-one-power (i (- (exponent-of a af) (fraction-bits af))) (j (- (exponent-of b bf)
        (fraction-bits bf))))
                  (:instance value-with-sign (w a) (fmt af))
                  (:instance value-with-sign (w b) (fmt bf))
     (:instance regrouped (a (with-sign (equal (sign-of a af) 1) (significand-of a af)))
       (b (expt 2 (- (exponent-of a af) (fraction-bits af))))
        (c (with-sign (equal (sign-of b bf) 1) (significand-of b bf)))
          (d (expt 2 (- (exponent-of b bf) (fraction-bits bf)))))
     (:instance product-with-signs (n (equal (sign-of a af) 1)) (m
       (equal (sign-of b bf) 1)) (x (significand-of a af)) (y (significand-of b bf))))))))
(local (defthm significand-of-zero
  (implies (and (format-p fmt) (zero-p w fmt)) (equal (significand-of w fmt) 0)) :hints (("Goal"
    :use significand-zero))))
(local (defthm value-of-zero
  (implies (and (format-p fmt) (zero-p w fmt)) (equal (value-of w fmt) 0)) :hints (("Goal" :use value-zero))))
(defthm aligned-product-of
  (implies (and (format-p af) (format-p bf) (integerp l) (integerp f) (natp w)
                (<= (car (product-of a b af bf zero)) l)
                (< (- l (+ (exponent-of a af) (exponent-of b bf))) (expt 2 w)))
           (equal (aligned-of (product-of a b af bf zero) l f)
                  (shifted-of (* (significand-of a af) (significand-of b bf))
                              (not (equal (equal (sign-of a af) 1) (equal (sign-of b bf) 1)))
                              (- f (+ (fraction-bits af) (fraction-bits bf)))
                              (loghead w (- l (+ (exponent-of a af) (exponent-of b bf)))))))
  :rule-classes nil
  :hints (("Goal" :do-not-induct t :cases ((or (zero-p a af) (zero-p b bf))))
     ("Subgoal 2"
       :in-theory (union-theories
         (theory 'minimal-theory) '(aligned-of product-of term-of car-cons cdr-cons exponent-of-product
           significand-natural exponent-integer natp fraction-bits-natural value-zero (:type-prescription
             exponent-integer) (:type-prescription significand-natural) natp-compound-recognizer
               integerp-of-sum natp-of-product zero-of-product (:type-prescription rational-value)))
          :use (value-of-product
            (:instance aligned-magnitude (magnitude (* (significand-of a af) (significand-of b bf)))
       (negative (not (equal (equal (sign-of a af) 1) (equal (sign-of b bf) 1))))
       (e (+ (exponent-of a af) (exponent-of b bf))) (point (+ (fraction-bits af) (fraction-bits bf))))))))
(defthm aligned-number-of
  (implies (and (format-p cf) (integerp l) (integerp f) (natp w)
                (<= (car (number-of c cf zero)) l)
                (< (- l (exponent-of c cf)) (expt 2 w)))
           (equal (aligned-of (number-of c cf zero) l f)
                  (shifted-of (significand-of c cf) (equal (sign-of c cf) 1)
                              (- f (fraction-bits cf))
                              (loghead w (- l (exponent-of c cf))))))
  :rule-classes nil
  :hints (("Goal" :do-not-induct t :cases ((zero-p c cf)))
     ("Subgoal 2"
       :in-theory (union-theories
         (theory 'minimal-theory) '(aligned-of number-of term-of car-cons cdr-cons exponent-of-number
           value-zero natp natp-compound-recognizer fraction-bits-natural (:type-prescription
             exponent-integer) (:type-prescription significand-natural)))
       :use ((:instance value-with-sign (w c) (fmt cf))
         (:instance aligned-magnitude (magnitude (significand-of c cf))
       (negative (equal (sign-of c cf) 1))
       (e (exponent-of c cf)) (point (fraction-bits cf)))))))

(defun near-by-shift (n k mode)
  (let* ((low (ash n (- k)))
         (rest (- n (ash low k)))
         (half (ash 1 (- k 1))))
    (if (and (equal mode :rne)
             (< 0 k)
             (or (< half rest) (and (equal half rest) (equal (loghead 1 low) 1))))
        (+ low 1)
      low)))
(local (defthm ash-left
  (implies (and (integerp x) (natp k)) (equal (ash x k) (* x (expt 2 k))))
  :rule-classes nil :hints (("Goal" :in-theory (enable ash)))))
(local (defthm ash-right
  (implies (and (integerp x) (natp k)) (equal (ash x (- k)) (floor (* x (expt 2 (- k))) 1)))
  :rule-classes nil :hints (("Goal" :in-theory (enable ash)))))
(local (defthm rational-power (implies (integerp k) (rationalp (expt 2 k)))))
(local (defthm rational-difference (implies (and (rationalp x) (rationalp y)) (rationalp (+ x (- y))))))
(local (defthm rational-product (implies (and (rationalp x) (rationalp y)) (rationalp (* x y)))))
(local (defthm integer-rational (implies (integerp x) (rationalp x))))
(local (defthm integer-before
  (implies (integerp k) (and (integerp (+ k -1)) (integerp (+ -1 k)) (integerp (- k))))))
(local (defthm less-than-half
  (implies (and (integerp n) (integerp low) (posp k))
    (equal (< 1/2 (- (* n (expt 2 (- k))) low)) (< (expt 2 (- k 1)) (- n (* low (expt 2 k))))))
  :rule-classes nil
  :hints (("Goal" :nonlinearp t
    :cases ((< (* 1/2 (expt 2 k)) (* (- (* n (expt 2 (- k))) low) (expt 2 k))))))))
(local (defthm more-than-half
  (implies (and (integerp n) (integerp low) (posp k))
    (equal (< (- (* n (expt 2 (- k))) low) 1/2) (< (- n (* low (expt 2 k))) (expt 2 (- k 1)))))
  :rule-classes nil
  :hints (("Goal" :nonlinearp t
    :cases ((> (* 1/2 (expt 2 k)) (* (- (* n (expt 2 (- k))) low) (expt 2 k))))))))
(local (defthm equal-by-order
  (implies (and (rationalp x) (rationalp y)) (equal (equal x y) (and (not (< x y)) (not (< y x)))))
  :rule-classes nil))
(local (defthm equals-half
  (implies (and (integerp n) (integerp low) (posp k))
    (equal (equal (- (* n (expt 2 (- k))) low) 1/2) (equal (expt 2 (- k 1)) (- n (* low (expt 2 k))))))
  :rule-classes nil
  :hints (("Goal"
    :in-theory (union-theories
      (theory 'minimal-theory) '(posp rational-power rational-difference rational-product integer-rational
        integer-before))
    :use (less-than-half more-than-half (:instance equal-by-order (x (- (* n (expt 2 (- k))) low)) (y 1/2))
     (:instance equal-by-order (x (expt 2 (- k 1))) (y (- n (* low (expt 2 k))))))))))
(local (defthm loghead-1 (implies (integerp x) (equal (loghead 1 x) (mod x 2))) :rule-classes nil
  :hints (("Goal" :in-theory (enable loghead)))))
(defthm near-is-by-shift
  (implies (and (natp n) (natp k))
           (equal (integer-near (* n (expt 2 (- k))) mode) (near-by-shift n k mode)))
  :rule-classes nil
  :hints (("Goal" :do-not-induct t :in-theory (disable floor ash mod expt)
     :cases ((equal k 0))
     :use ((:instance ash-right (x n)) (:instance ash-left (x (ash n (- k))))
       (:instance ash-left (x 1) (k (- k 1)))
           (:instance less-than-half (low (floor (* n (expt 2 (- k))) 1)))
           (:instance equals-half (low (floor (* n (expt 2 (- k))) 1)))
           (:instance loghead-1 (x (floor (* n (expt 2 (- k))) 1)))))))
(local (defthm larger-power
  (implies (and (integerp c) (integerp k) (<= c k)) (<= (expt 2 c) (expt 2 k))) :rule-classes nil))
(local (defthm power-chain
  (implies (and (rationalp n) (integerp c) (integerp k) (<= c k) (< n (expt 2 (- c 1)))) (< n (expt 2
    (- k 1))))
  :rule-classes nil
  :hints (("Goal" :use ((:instance larger-power (c (- c 1)) (k (- k 1))))
    :in-theory (union-theories (theory 'minimal-theory) '(integer-before integerp-of-sum))))))
(local (defthm half-power
  (implies (and (integerp k) (rationalp n) (<= 0 n) (< n (expt 2 (- k 1)))) (< n (expt 2 k)))
  :rule-classes nil :hints (("Goal" :use ((:instance larger-power (c (- k 1))))
    :in-theory (union-theories (theory 'minimal-theory) '(integer-before integerp-of-sum))))))
(local (defthm nothing-left
  (implies (and (natp n) (natp k) (< n (expt 2 k))) (equal (floor (* n (expt 2 (- k))) 1) 0))
  :rule-classes nil :hints (("Goal" :nonlinearp t :cases ((< (* n (expt 2 (- k))) 1))))))
(defthm near-saturates
  (implies (and (natp n) (natp k) (posp c) (< n (expt 2 (- c 1))) (<= c k))
           (equal (near-by-shift n k mode) 0))
  :rule-classes nil
  :hints (("Goal" :do-not-induct t :in-theory (disable floor ash mod expt)
     :use (power-chain half-power nothing-left (:instance ash-right (x n)) (:instance ash-left (x 0))
       (:instance ash-left (x 1) (k (- k 1)))))))
(local (defthm cap-is-positive (implies (posp w) (posp (- (ash 1 w) 1))) :hints (("Goal"
  :in-theory (enable ash) :nonlinearp t :cases ((< 1 (expt 2 w))))) :rule-classes nil))
(local (defthm cap-fits (implies (posp w) (< (- (ash 1 w) 1) (expt 2 w))) :hints (("Goal"
  :in-theory (enable ash))) :rule-classes nil))
(local (defthm shift-of-digits
  (implies (and (natp size) (natp p) (natp shift))
           (equal (* size (expt 2 (- p shift))) (* (ash size p) (expt 2 (- shift)))))
  :rule-classes nil
  :hints (("Goal" :use ((:instance ash-left (x size) (k p)) (:instance of-one-power (i p) (j (- shift))))))))
(local (defthm ash-natural (implies (and (natp size) (natp p)) (natp (ash size p))) :rule-classes nil
  :hints (("Goal" :use ((:instance ash-left (x size) (k p)))))))
(local (defthm digits-by-shift
  (implies (and (natp size) (natp p) (natp shift) (posp w)
                (< (* size (expt 2 p)) (expt 2 (- (- (ash 1 w) 1) 1))))
           (equal (integer-near (* size (expt 2 (- p shift))) mode)
                  (near-by-shift (ash size p) (loghead w (min shift (- (ash 1 w) 1))) mode)))
  :rule-classes nil
  :hints (("Goal" :do-not-induct t
    :in-theory (union-theories (theory 'minimal-theory) '(natp posp min integer-rational))
    :cases ((<= shift (- (ash 1 w) 1)))
    :use (cap-is-positive cap-fits shift-of-digits ash-natural
      (:instance ash-left (x size) (k p))
      (:instance near-is-by-shift (n (ash size p)) (k shift))
      (:instance loghead-small (x shift))
      (:instance loghead-small (x (- (ash 1 w) 1)))
      (:instance near-saturates (n (ash size p)) (k shift) (c (- (ash 1 w) 1)))
      (:instance near-saturates (n (ash size p)) (k (- (ash 1 w) 1)) (c (- (ash 1 w) 1))))))))

(defun rounded-by-right-shift (s q fmt p mode w)
  (let* ((size (abs s))
         (shift (max (- (- 1 (bias-of fmt)) q) (- (integer-length size) 1)))
         (digits (near-by-shift (ash size p) (loghead w (min shift (- (ash 1 w) 1))) mode))
         (word (ash (+ (ash (+ (+ q shift) (bias-of fmt) -1) p) digits) (- (fraction-bits fmt) p)))
         (infinity (ash (largest-field fmt) (fraction-bits fmt))))
    (if (or (equal s 0) (equal digits 0))
        0
      (+ (if (< s 0) (ash 1 (+ (exponent-bits fmt) (fraction-bits fmt))) 0)
         (min word infinity)))))
(local (defthm length-natural (natp (integer-length n)) :rule-classes nil :hints (("Goal"
  :in-theory (enable integer-length)))))
(local (defthm length-positive-of-positive (implies (posp n) (posp (integer-length n))) :rule-classes nil
  :hints (("Goal" :expand (integer-length n) :use ((:instance length-natural (n (floor n 2))))
    :in-theory (disable floor)))))
(local (defthm length-positive (implies (and (integerp s) (not (equal s 0))) (posp (integer-length (abs s))))
  :rule-classes nil :hints (("Goal" :use ((:instance length-positive-of-positive (n (abs s))))
    :in-theory (disable integer-length)))))
(local (defthm shift-natural
  (implies (and (integerp s) (not (equal s 0)) (integerp q) (integerp bias))
   (natp (max (- (- 1 bias) q) (- (integer-length (abs s)) 1)))) :rule-classes nil :hints (("Goal"
     :use length-positive :in-theory (disable integer-length)))))
(local (defthm exponent-from-shift
  (implies (and (integerp q) (integerp bias) (integerp len))
           (equal (max (- 1 bias) (+ q (- len 1))) (+ q (max (- (- 1 bias) q) (- len 1)))))
             :rule-classes nil))
(local (defthm natural-abs (implies (integerp s) (and (integerp (abs s)) (not (< (abs s) 0))))))
(local (defthm exponents-cancel
  (implies (and (integerp q) (integerp shift) (integerp p)) (equal (- q (- (+ q shift) p)) (- p shift)))
  :rule-classes nil))
(defthm rounded-is-by-right-shift
  (implies (and (integerp s) (integerp q) (natp p) (posp w)
                (< (* (abs s) (expt 2 p)) (expt 2 (- (- (ash 1 w) 1) 1))))
           (equal (rounded-of s q fmt p mode) (rounded-by-right-shift s q fmt p mode w)))
  :rule-classes nil
  :hints (("Goal" :do-not-induct t
    :in-theory (union-theories (theory 'minimal-theory) '(rounded-of rounded-by-right-shift natp natural-abs))
    :cases ((equal s 0))
    :use ((:instance shift-natural (bias (bias-of fmt))) bias-integer
          (:instance length-natural (n (abs s)))
          (:instance exponents-cancel (shift (max (- (- 1 (bias-of fmt)) q) (- (integer-length (abs s)) 1))))
          (:instance exponent-from-shift (bias (bias-of fmt)) (len (integer-length (abs s))))
          (:instance digits-by-shift (size (abs s)) (shift (max (- (- 1 (bias-of fmt)) q) (- (integer-length
            (abs s)) 1))))))))

(local (defthm product-within
  (implies (and (integerp s) (natp m) (<= (- m) s) (<= s m) (natp p))
           (<= (* (abs s) (expt 2 p)) (* m (expt 2 p))))
  :rule-classes nil
  :hints (("Goal" :nonlinearp t))))
(defthm rounded-within
  (implies (and (integerp s) (integerp q) (natp p) (posp w) (natp m) (<= (- m) s) (<= s m)
                (< (* m (expt 2 p)) (expt 2 (- (- (ash 1 w) 1) 1))))
           (equal (rounded-of s q fmt p mode) (rounded-by-right-shift s q fmt p mode w)))
  :rule-classes nil
  :hints (("Goal" :in-theory (theory 'minimal-theory) :use (product-within rounded-is-by-right-shift))))

(defun special-of (as bs c af bf cf df nan)
  (let* ((infinity (ash (largest-field df) (fraction-bits df)))
         (sign (ash 1 (+ (exponent-bits df) (fraction-bits df)))))
    (cond ((or (nan-p c cf)
               (some-nan-product-p as bs af bf)
               (and (infinity-p nil as bs c af bf cf) (infinity-p t as bs c af bf cf)))
           nan)
          ((infinity-p nil as bs c af bf cf) infinity)
          ((infinity-p t as bs c af bf cf) (+ sign infinity))
          (t nil))))

(defthm special-sum
  (implies (special-of as bs c af bf cf df nan)
           (equal (fused-sum as bs c af bf cf df f carry zero p mode nan)
                  (special-of as bs c af bf cf df nan)))
  :rule-classes nil
  :hints (("Goal" :in-theory (union-theories (theory 'minimal-theory) '(special-of fused-sum)))))
(defthm sum-of-numbers
  (implies (and nan (not (special-of as bs c af bf cf df nan)))
           (equal (fused-sum as bs c af bf cf df f carry zero p mode nan)
                  (let* ((terms (cons (number-of c cf zero) (products-of as bs af bf zero)))
                         (largest (largest-of terms)))
                    (rounded-of (logext (+ 3 f carry) (sum-of terms largest f)) (- largest f) df p mode))))
  :rule-classes nil
  :hints (("Goal"
    :in-theory (union-theories (theory 'minimal-theory) '(special-of fused-sum (:type-prescription ash))))))

; Of the largest of some numbers.
(defthmd max-of-sums
  (implies (and (integerp x) (integerp y) (integerp k))
           (equal (max (+ k x) (+ k y)) (+ k (max x y)))))
(defthmd max-in-order
  (implies (and (integerp x) (integerp y)) (equal (max y x) (max x y))))
(defthmd max-in-order-2
  (implies (and (integerp x) (integerp y) (integerp z)) (equal (max y (max x z)) (max x (max y z)))))
(defthmd integer-max
  (implies (and (integerp x) (integerp y)) (integerp (max x y))))
(defthmd max-below (implies (and (integerp x) (integerp y) (integerp k))
  (equal (< (max x y) k) (and (< x k) (< y k)))))
(defthmd max-above (implies (and (integerp x) (integerp y) (integerp k))
  (equal (< k (max x y)) (or (< k x) (< k y)))))
(defthmd max-is-a-word
  (implies (and (unsigned-byte-p n x) (unsigned-byte-p n y)) (unsigned-byte-p n (max x y))))
(defthmd largest-of-one (equal (largest-of (cons x nil)) (car x)))
(defthmd largest-of-more
  (equal (largest-of (cons x (cons y z))) (max (car x) (largest-of (cons y z)))))
(defthmd products-of-more
  (equal (products-of (cons a as) (cons b bs) af bf zero)
         (cons (product-of a b af bf zero) (products-of as bs af bf zero))))
(defthmd products-of-none (equal (products-of nil bs af bf zero) nil))
(defthmd sum-of-more
  (equal (sum-of (cons x y) largest f) (+ (aligned-of x largest f) (sum-of y largest f)))
  :hints (("Goal" :in-theory (union-theories (theory 'minimal-theory) '(sum-of car-cons cdr-cons)))))
(local (defthm aligned-is-a-number
  (acl2-numberp (aligned-of x largest f))
  :hints (("Goal" :in-theory '(aligned-of (:type-prescription truncate))))))
(defthmd sum-of-last
  (equal (sum-of (cons x nil) largest f) (aligned-of x largest f))
  :hints (("Goal" :in-theory (union-theories (theory 'minimal-theory)
    '(sum-of car-cons cdr-cons commutativity-of-+ unicity-of-0 fix aligned-is-a-number
      (:executable-counterpart consp))))))

; A signed number as a word.
(defthmd number-of-word
  (implies (and (posp n) (signed-byte-p n x)) (equal (logext n (loghead n x)) x))
  :hints (("Goal" :in-theory (enable logext loghead))))
(defthmd word-of-number
  (implies (natp n) (unsigned-byte-p n (loghead n x)))
  :hints (("Goal" :in-theory (enable loghead))))
(defthmd number-in-register
  (implies (and (posp n) (signed-byte-p n x)) (equal (logext n x) x))
  :hints (("Goal" :in-theory (enable logext loghead))))
(defthmd not-less-than-itself (not (< x x)))

; What a proof about words needs beside its lemmas: what constants compute, and bounds as inequalities.
(defthmd word-by-bounds
  (implies (natp n)
           (equal (unsigned-byte-p n x) (and (integerp x) (not (< x 0)) (< x (expt 2 n))))))
(defthmd number-by-bounds
  (implies (posp n)
           (equal (signed-byte-p n x)
                  (and (integerp x) (not (< x (- (expt 2 (- n 1))))) (< x (expt 2 (- n 1)))))))
(defthmd from-the-base (equal (+ (+ k l) (- (+ k e))) (+ l (- e))))
(defthmd constants-together
  (implies (syntaxp (and (quotep j) (quotep k))) (equal (+ j (+ k x)) (+ (+ j k) x))))
(defthmd integer-sum (implies (and (integerp x) (integerp y)) (integerp (+ x y))))
(deftheory computed (union-theories (theory 'minimal-theory) (executable-counterpart-theory :here)))
(defthmd fused-sums-of-more
  (equal (fused-sums (cons a as) (cons b bs) c af bf cf df f carry zero p mode nan)
         (fused-sums as bs (fused-sum a b c af bf cf df f carry zero p mode nan)
                     af bf df df f carry zero p mode nan))
  :hints (("Goal" :in-theory (union-theories (theory 'minimal-theory) '(fused-sums car-cons cdr-cons)))))
(defthmd fused-sums-of-none
  (equal (fused-sums nil bs c af bf cf df f carry zero p mode nan) c)
  :hints (("Goal" :in-theory (union-theories (theory 'minimal-theory) '(fused-sums)))))
(defthmd plus-in-order (equal (+ y (+ x z)) (+ x (+ y z))))
(deftheory rules-of-maxima
  '(max-of-sums max-in-order max-in-order-2 integer-max max-below max-above largest-of-one largest-of-more
    not-less-than-itself car-cons cdr-cons))
(deftheory rules-of-sums
  '(products-of-more products-of-none sum-of-more sum-of-last number-in-register plus-in-order
    commutativity-of-+ posp))
