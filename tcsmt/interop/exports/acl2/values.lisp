; Words as numbers, and errors of sums of products, for theorems about how accurate an algorithm is.
; Written by hand. Who reads such a theorem needs the definitions down to the line; below it stands what the
; proofs use, and ACL2 has proved it.

(in-package "ACL2")
(include-book "../theorems" :ttags ((:fast-cons-memo) (:aig-vars)))
(local (include-book "arithmetic-5/top" :dir :system))

; A binary format is (list e m bias specials): e exponent bits, m fraction bits, and which words are no numbers:
;   :ieee      those with the largest exponent field
;   :nan-only  those of ones, but for the sign
;   :finite    none
; A word is sign, exponent field and fraction field. (ash x k) is floor(x * 2^k), (loghead n x) x modulo 2^n.
(defun exponent-bits (fmt) (car fmt))
(defun fraction-bits (fmt) (cadr fmt))
(defun bias-of (fmt) (caddr fmt))
(defun specials (fmt) (cadddr fmt))
(defun sign-of (w fmt) (ash w (- (+ (exponent-bits fmt) (fraction-bits fmt)))))
(defun field-of (w fmt) (loghead (exponent-bits fmt) (ash w (- (fraction-bits fmt)))))
(defun fraction-of (w fmt) (loghead (fraction-bits fmt) w))
(defun largest-field (fmt) (- (ash 1 (exponent-bits fmt)) 1))
(defun largest-fraction (fmt) (- (ash 1 (fraction-bits fmt)) 1))
(defun number-p (w fmt)
  (not (and (equal (field-of w fmt) (largest-field fmt))
            (or (equal (specials fmt) :ieee)
                (and (equal (specials fmt) :nan-only)
                     (equal (fraction-of w fmt) (largest-fraction fmt)))))))

; The value of a number: (-1)^sign * significand * 2^(exponent - m).
(defun significand-of (w fmt)
  (if (equal (field-of w fmt) 0)
      (fraction-of w fmt)
    (+ (ash 1 (fraction-bits fmt)) (fraction-of w fmt))))
(defun exponent-of (w fmt) (- (max 1 (field-of w fmt)) (bias-of fmt)))
(defun value-of (w fmt)
  (* (if (equal (sign-of w fmt) 1) -1 1)
     (significand-of w fmt)
     (expt 2 (- (exponent-of w fmt) (fraction-bits fmt)))))

; Zero, or a normal number with an exponent from low to high.
(defun zero-or-normal (w fmt low high)
  (or (and (equal (field-of w fmt) 0) (equal (fraction-of w fmt) 0))
      (and (number-p w fmt)
           (< 0 (field-of w fmt))
           (<= low (exponent-of w fmt))
           (<= (exponent-of w fmt) high))))

; Of rational numbers.
(defun values-of (ws fmt)
  (if (consp ws) (cons (value-of (car ws) fmt) (values-of (cdr ws) fmt)) nil))
(defun sum-of-products (xs ys)
  (if (consp xs) (+ (* (car xs) (car ys)) (sum-of-products (cdr xs) (cdr ys))) 0))
(defun sum-of-sizes (xs ys)
  (if (consp xs) (+ (abs (* (car xs) (car ys))) (sum-of-sizes (cdr xs) (cdr ys))) 0))

; ----------------------------------------------------------------------------------------------------------

; A number as words: word i counts 2^(-scale i) of what it says.
(defun value-of-words (ws fmt scale)
  (if (consp ws)
      (+ (value-of (car ws) fmt) (* (expt 2 (- scale)) (value-of-words (cdr ws) fmt scale)))
    0))

; In units of 2^(low - m): an integer, of a number with an exponent from low to high, high < low + 2^k.
(defun exponent-within (w fmt low high)
  (and (number-p w fmt)
       (or (equal (significand-of w fmt) 0)
           (and (<= low (exponent-of w fmt)) (<= (exponent-of w fmt) high)))))
(defun places-of (w fmt low k) (loghead k (- (exponent-of w fmt) low)))
(defun scaled (w fmt low k)
  (let ((size (ash (significand-of w fmt) (places-of w fmt low k))))
    (if (equal (sign-of w fmt) 1) (- size) size)))
; All bits of the product, as a unit has it: then both are the same gates.
(defun scaled-product (x y fx fy lx kx ly ky)
  (let ((size (ash (loghead (+ 2 (fraction-bits fx) (fraction-bits fy))
                            (* (significand-of x fx) (significand-of y fy)))
                   (+ (places-of x fx lx kx) (places-of y fy ly ky)))))
    (if (equal (equal (sign-of x fx) 1) (equal (sign-of y fy) 1)) size (- size))))

(local (defthm ash-left
  (implies (and (integerp x) (natp k)) (equal (ash x k) (* x (expt 2 k))))
  :hints (("Goal" :in-theory (enable ash)))))
(local (defthm integer-significand (integerp (significand-of w fmt)) :rule-classes (:rewrite :type-prescription)
  :hints (("Goal" :in-theory (enable significand-of)))))
(local (defthm integer-exponent (implies (integerp (bias-of fmt)) (integerp (exponent-of w fmt)))
  :hints (("Goal" :in-theory (enable exponent-of)))))
(local (defthm natural-places (natp (places-of w fmt low k)) :rule-classes (:rewrite :type-prescription)))
(local (defthm loghead-small
  (implies (and (natp x) (natp k) (< x (expt 2 k))) (equal (loghead k x) x))
  :rule-classes nil :hints (("Goal" :in-theory (enable loghead)))))
(local (defthm places-within
  (implies (and (integerp (exponent-of w fmt)) (integerp low) (integerp high) (natp k)
                (<= low (exponent-of w fmt)) (<= (exponent-of w fmt) high) (< (- high low) (expt 2 k)))
           (equal (places-of w fmt low k) (- (exponent-of w fmt) low)))
  :hints (("Goal" :in-theory (disable loghead exponent-of)
    :use ((:instance loghead-small (x (- (exponent-of w fmt) low))))))))

(local (defthm small-low-bits
  (implies (natp n) (and (natp (loghead n w)) (< (loghead n w) (expt 2 n))))
  :rule-classes nil :hints (("Goal" :in-theory (enable loghead)))))
(local (defthm twice
  (implies (natp n)
           (and (natp (ash 1 n)) (equal (expt 2 (+ 1 n)) (+ (ash 1 n) (expt 2 n))) (< 0 (ash 1 n))
                (implies (natp x) (natp (+ (ash 1 n) x)))))
  :rule-classes nil))
(local (defthm small-significand
  (implies (natp (fraction-bits fmt))
           (and (natp (significand-of w fmt)) (< (significand-of w fmt) (expt 2 (+ 1 (fraction-bits fmt))))))
  :rule-classes nil
  :hints (("Goal" :in-theory (union-theories (theory 'minimal-theory) '(significand-of fraction-of))
    :use ((:instance small-low-bits (n (fraction-bits fmt))) (:instance twice (n (fraction-bits fmt)) (x (loghead (fraction-bits fmt) w))))))))
(local (defthm small-product
  (implies (and (natp x) (natp y) (natp m) (natp n) (< x (expt 2 (+ 1 m))) (< y (expt 2 (+ 1 n))))
           (< (* x y) (expt 2 (+ 2 m n))))
  :rule-classes nil
  :hints (("Goal" :nonlinearp t))))

(local (defthm natural-bits
  (implies (and (natp x) (natp y) (natp m) (natp n)) (and (natp (* x y)) (natp (+ 2 m n))))
  :rule-classes nil))
(local (in-theory (disable significand-of exponent-of sign-of number-p bias-of fraction-bits places-of ash loghead)))
(local (defthm integer-difference
  (implies (and (integerp x) (integerp y)) (integerp (+ x (- y))))))
(local (defthm natural-difference
  (implies (and (integerp x) (integerp y) (<= y x)) (and (integerp (+ x (- y))) (<= 0 (+ x (- y)))))))
(local (defthm power-through
  (implies (and (integerp e) (integerp low) (integerp m))
           (and (equal (* s (expt 2 (- e m))) (* (expt 2 (- low m)) (* s (expt 2 (- e low)))))
                (equal (* -1 s (expt 2 (- e m))) (* (expt 2 (- low m)) (- (* s (expt 2 (- e low))))))))
  :rule-classes nil))
(defthm value-of-scaled
  (implies (and (exponent-within w fmt low high)
                (integerp low) (integerp high) (natp k) (< (- high low) (expt 2 k))
                (integerp (bias-of fmt)) (integerp (fraction-bits fmt)))
           (equal (value-of w fmt) (* (expt 2 (- low (fraction-bits fmt))) (scaled w fmt low k))))
  :rule-classes nil
  :hints (("Goal"
    :cases ((equal (significand-of w fmt) 0)))
    ("Subgoal 2" :in-theory (union-theories (theory 'minimal-theory)
      '(value-of scaled exponent-within places-within ash-left natp integer-significand integer-exponent
        natural-difference))
     :use ((:instance power-through (e (exponent-of w fmt)) (m (fraction-bits fmt))
             (s (significand-of w fmt)))
           (:instance power-through (e (exponent-of w fmt)) (m (fraction-bits fmt)) (s 1))))))

(local (defthm all-bits-of-product
  (implies (and (natp (fraction-bits fx)) (natp (fraction-bits fy)))
           (equal (loghead (+ 2 (fraction-bits fx) (fraction-bits fy)) (* (significand-of x fx) (significand-of y fy)))
                  (* (significand-of x fx) (significand-of y fy))))
  :hints (("Goal" :in-theory (theory 'minimal-theory)
    :use ((:instance small-significand (w x) (fmt fx)) (:instance small-significand (w y) (fmt fy))
          (:instance small-product (x (significand-of x fx)) (y (significand-of y fy))
            (m (fraction-bits fx)) (n (fraction-bits fy)))
          (:instance natural-bits (x (significand-of x fx)) (y (significand-of y fy))
            (m (fraction-bits fx)) (n (fraction-bits fy)))
          (:instance loghead-small (k (+ 2 (fraction-bits fx) (fraction-bits fy)))
            (x (* (significand-of x fx) (significand-of y fy)))))))))
(local (defthm loghead-of-zero (equal (loghead k 0) 0) :hints (("Goal" :in-theory (enable loghead)))))
(local (defthm product-of-scaled
  (implies (and (natp (fraction-bits fx)) (natp (fraction-bits fy)))
           (equal (scaled-product x y fx fy lx kx ly ky) (* (scaled x fx lx kx) (scaled y fy ly ky))))
  :hints (("Goal" :in-theory (disable places-of natp)))))
(local (defthm powers-apart
  (implies (and (integerp i) (integerp j)) (equal (* (* (expt 2 i) x) (expt 2 j) y) (* (expt 2 (+ i j)) x y)))
  :rule-classes nil))
(defthm value-of-scaled-product
  (implies (and (exponent-within x fx lx hx) (exponent-within y fy ly hy)
                (integerp lx) (integerp hx) (natp kx) (< (- hx lx) (expt 2 kx))
                (integerp ly) (integerp hy) (natp ky) (< (- hy ly) (expt 2 ky))
                (integerp (bias-of fx)) (natp (fraction-bits fx))
                (integerp (bias-of fy)) (natp (fraction-bits fy)))
           (equal (* (value-of x fx) (value-of y fy))
                  (* (expt 2 (+ (- lx (fraction-bits fx)) (- ly (fraction-bits fy))))
                     (scaled-product x y fx fy lx kx ly ky))))
  :rule-classes nil
  :hints (("Goal" :in-theory (union-theories (theory 'minimal-theory)
      '(product-of-scaled integer-difference associativity-of-* natp))
    :use ((:instance value-of-scaled (w x) (fmt fx) (low lx) (high hx) (k kx))
          (:instance value-of-scaled (w y) (fmt fy) (low ly) (high hy) (k ky))
          (:instance powers-apart (i (- lx (fraction-bits fx))) (j (- ly (fraction-bits fy)))
            (x (scaled x fx lx kx)) (y (scaled y fy ly ky)))))))

(defthm rational-value (rationalp (value-of w fmt)) :rule-classes (:rewrite :type-prescription))
(defthm rational-value-of-words (rationalp (value-of-words ws fmt scale))
  :rule-classes (:rewrite :type-prescription))
(defthm integer-scaled (integerp (scaled w fmt low k)) :rule-classes (:rewrite :type-prescription))
(defthm integer-scaled-product (integerp (scaled-product x y fx fy lx kx ly ky))
  :rule-classes (:rewrite :type-prescription))

; Each of ws is near one of xs, relative to it.
(defun near-p (xs ws rho)
  (if (consp xs)
      (and (consp ws) (rationalp (car xs)) (rationalp (car ws))
           (<= (abs (- (car xs) (car ws))) (* rho (abs (car xs))))
           (near-p (cdr xs) (cdr ws) rho))
    (not (consp ws))))
;
(local (in-theory (disable abs)))
(local (defthm abs-of-product
  (implies (and (rationalp x) (rationalp y)) (equal (abs (* x y)) (* (abs x) (abs y))))
  :hints (("Goal" :in-theory (enable abs) :nonlinearp t))))
(local (defthm abs-rational (implies (rationalp x) (and (rationalp (abs x)) (<= 0 (abs x))))
  :rule-classes (:rewrite :type-prescription) :hints (("Goal" :in-theory (enable abs)))))
(local (defthm abs-of-sum
  (implies (and (rationalp x) (rationalp y)) (<= (abs (+ x y)) (+ (abs x) (abs y))))
  :rule-classes nil :hints (("Goal" :in-theory (enable abs)))))
(local (defthm abs-of-difference
  (implies (and (rationalp x) (rationalp y)) (equal (abs (- x y)) (abs (- y x))))
  :rule-classes nil :hints (("Goal" :in-theory (enable abs)))))
(local (defthm product-of-bounds
  (implies (and (rationalp x) (rationalp y) (rationalp u) (rationalp v) (<= 0 x) (<= x u) (<= 0 y) (<= y v))
           (<= (* x y) (* u v)))
  :rule-classes nil
  :hints (("Goal" :nonlinearp t))))
(local (defthm rational-product (implies (and (rationalp x) (rationalp y)) (rationalp (* x y)))))
(local (defthm rational-sum (implies (and (rationalp x) (rationalp y)) (rationalp (+ x y)))))
(local (defthm rational-minus (implies (rationalp x) (rationalp (- x)))))
(local (defthm size-near
  (implies (and (rationalp a) (rationalp x) (rationalp r) (<= (abs (- a x)) (* r (abs a))))
           (<= (abs x) (* (+ 1 r) (abs a))))
  :rule-classes nil
  :hints (("Goal" :use ((:instance abs-of-sum (x a) (y (- x a)))) :in-theory (enable abs)))))
(local (defthm sizes-of-product-near
  (implies (and (rationalp a) (rationalp b) (rationalp d) (rationalp e) (rationalp x) (rationalp y)
                (rationalp ra) (rationalp rb) (<= 0 a) (<= 0 b) (<= 0 d) (<= 0 e) (<= 0 x) (<= 0 y)
                (<= d (* ra a)) (<= e (* rb b)) (<= x (* (+ 1 ra) a)) (<= y (* (+ 1 rb) b)))
           (and (<= (+ (* d b) (* x e)) (* (+ ra (* (+ 1 ra) rb)) (* a b)))
                (<= (* x y) (* (* (+ 1 ra) (+ 1 rb)) (* a b)))))
  :rule-classes nil
  :hints (("Goal"
    :use ((:instance product-of-bounds (x d) (u (* ra a)) (y b) (v b))
          (:instance product-of-bounds (u (* (+ 1 ra) a)) (y e) (v (* rb b)))
          (:instance product-of-bounds (u (* (+ 1 ra) a)) (v (* (+ 1 rb) b))))))))
(local (defthm difference-of-products
  (implies (and (rationalp a) (rationalp b) (rationalp x) (rationalp y))
           (equal (- (* a b) (* x y)) (+ (* (- a x) b) (* x (- b y)))))
  :rule-classes nil))
(local (defthm product-near
  (implies (and (rationalp a) (rationalp b) (rationalp x) (rationalp y) (rationalp ra) (rationalp rb)
                (<= 0 ra) (<= 0 rb) (<= (abs (- a x)) (* ra (abs a))) (<= (abs (- b y)) (* rb (abs b))))
           (and (<= (abs (- (* a b) (* x y))) (* (+ ra (* (+ 1 ra) rb)) (abs (* a b))))
                (<= (abs (* x y)) (* (* (+ 1 ra) (+ 1 rb)) (abs (* a b))))))
  :rule-classes nil
  :hints (("Goal"
    :in-theory (union-theories (theory 'minimal-theory) '(abs-of-product abs-rational rational-product rational-sum
      rational-minus))
    :use ((:instance size-near (r ra)) (:instance size-near (a b) (x y) (r rb)) difference-of-products
          (:instance abs-of-sum (x (* (- a x) b)) (y (* x (- b y))))
          (:instance sizes-of-product-near (a (abs a)) (b (abs b)) (d (abs (- a x))) (e (abs (- b y)))
            (x (abs x)) (y (abs y))))))))
(local (defun pairs-induct (as bs xs ys)
  (if (consp as) (pairs-induct (cdr as) (cdr bs) (cdr xs) (cdr ys)) (list bs xs ys))))
(local (defthm size-of-sizes
  (implies (and (near-p as xs ra) (near-p bs ys rb) (equal (len as) (len bs)))
           (<= 0 (sum-of-sizes as bs)))
  :rule-classes nil :hints (("Goal" :induct (pairs-induct as bs xs ys) :in-theory (disable abs-of-product)))))
(local (defthm natural-product
  (implies (and (rationalp x) (rationalp y) (<= 0 x) (<= 0 y)) (<= 0 (* x y)))
  :rule-classes nil))
(local (defthm sum-of-bounds
  (implies (and (rationalp e) (rationalp m) (rationalp n) (rationalp p) (rationalp q) (rationalp share)
                (rationalp limit) (<= 0 e) (<= 0 m) (<= 0 p) (<= 1 q) (<= 0 share) (<= n (* q m))
                (<= (+ p (* share q)) limit))
           (<= (+ (* share (+ e n)) (* p m)) (* limit (+ e m))))
  :rule-classes nil
  :hints (("Goal" :use ((:instance natural-product (x share) (y (- (* q m) n)))
    (:instance natural-product (x m) (y (- limit (+ p (* share q)))))
    (:instance natural-product (x e) (y (- limit (+ p (* share q)))))
    (:instance natural-product (x e) (y p))
    (:instance natural-product (x share) (y (- q 1)))
    (:instance natural-product (x e) (y (* share (- q 1)))))))))
(local (defthm rational-sums
  (implies (and (near-p as xs ra) (near-p bs ys rb) (equal (len as) (len bs)))
           (and (rationalp (sum-of-products as bs)) (rationalp (sum-of-products xs ys))
                (rationalp (sum-of-sizes as bs)) (rationalp (sum-of-sizes xs ys))))
  :rule-classes nil :hints (("Goal" :induct (pairs-induct as bs xs ys) :in-theory (disable abs-of-product)))))
(local (defthm one-more
  (implies (and (rationalp d) (rationalp s) (rationalp m) (rationalp n) (rationalp p) (rationalp q)
                (rationalp e) (rationalp f) (rationalp k) (rationalp l)
                (<= (abs (- p q)) (* k e)) (<= f (* l e)) (<= (abs (- d s)) (* k m)) (<= n (* l m)))
           (and (<= (abs (- (+ p d) (+ q s))) (* k (+ e m))) (<= (+ f n) (* l (+ e m)))))
  :rule-classes nil
  :hints (("Goal" :use ((:instance abs-of-sum (x (- p q)) (y (- d s))))))))
(defthm products-near
  (implies (and (near-p as xs ra) (near-p bs ys rb) (equal (len as) (len bs))
                (rationalp ra) (rationalp rb) (<= 0 ra) (<= 0 rb))
           (and (<= (abs (- (sum-of-products as bs) (sum-of-products xs ys)))
                    (* (+ ra (* (+ 1 ra) rb)) (sum-of-sizes as bs)))
                (<= (sum-of-sizes xs ys) (* (* (+ 1 ra) (+ 1 rb)) (sum-of-sizes as bs)))))
  :rule-classes nil
  :hints (("Goal" :induct (pairs-induct as bs xs ys))
    ("Subgoal *1/1"
     :in-theory (union-theories (theory 'minimal-theory)
       '(near-p sum-of-products sum-of-sizes len abs-rational rational-product rational-sum
         (:type-prescription len)))
     :use ((:instance rational-sums (as (cdr as)) (bs (cdr bs)) (xs (cdr xs)) (ys (cdr ys)))
           (:instance product-near (a (car as)) (x (car xs)) (b (car bs)) (y (car ys)))
           (:instance one-more (p (* (car as) (car bs))) (q (* (car xs) (car ys)))
             (d (sum-of-products (cdr as) (cdr bs))) (s (sum-of-products (cdr xs) (cdr ys)))
             (e (abs (* (car as) (car bs)))) (f (abs (* (car xs) (car ys))))
             (m (sum-of-sizes (cdr as) (cdr bs))) (n (sum-of-sizes (cdr xs) (cdr ys)))
             (k (+ ra (* (+ 1 ra) rb))) (l (* (+ 1 ra) (+ 1 rb))))))))

(defthm error-through-words
  (implies (and (near-p as xs ra) (near-p bs ys rb) (equal (len as) (len bs))
                (rationalp ra) (rationalp rb) (rationalp r) (rationalp c) (rationalp share) (rationalp limit)
                (<= 0 ra) (<= 0 rb) (<= 0 share)
                (<= (+ (+ ra (* (+ 1 ra) rb)) (* share (* (+ 1 ra) (+ 1 rb)))) limit)
                (<= (abs (- r (+ c (sum-of-products xs ys)))) (* share (+ (abs c) (sum-of-sizes xs ys)))))
           (<= (abs (- r (+ c (sum-of-products as bs)))) (* limit (+ (abs c) (sum-of-sizes as bs)))))
  :rule-classes nil
  :hints (("Goal" :in-theory (disable len near-p sum-of-products sum-of-sizes)
    :use (products-near rational-sums size-of-sizes
      (:instance abs-of-difference (x (sum-of-products as bs)) (y (sum-of-products xs ys)))
      (:instance abs-of-sum (x (- r (+ c (sum-of-products xs ys))))
        (y (- (sum-of-products xs ys) (sum-of-products as bs))))
      (:instance sum-of-bounds (e (abs c)) (m (sum-of-sizes as bs)) (n (sum-of-sizes xs ys))
        (p (+ ra (* (+ 1 ra) rb))) (q (* (+ 1 ra) (+ 1 rb))))))))

; What opens in a book about some inputs.
(defthmd values-of-more (equal (values-of (cons w ws) fmt) (cons (value-of w fmt) (values-of ws fmt))))
(defthmd values-of-none (equal (values-of nil fmt) nil))
(defthmd near-p-of-more
  (equal (near-p (cons x xs) (cons w ws) rho)
         (and (rationalp x) (rationalp w) (<= (abs (- x w)) (* rho (abs x))) (near-p xs ws rho))))
(defthmd near-p-of-none (equal (near-p nil nil rho) t))
(defthmd sum-of-products-of-more
  (equal (sum-of-products (cons x xs) (cons y ys)) (+ (* x y) (sum-of-products xs ys))))
(defthmd sum-of-sizes-of-more
  (equal (sum-of-sizes (cons x xs) (cons y ys)) (+ (abs (* x y)) (sum-of-sizes xs ys))))
(defthmd value-of-words-of-more
  (equal (value-of-words (cons w ws) fmt scale)
         (+ (value-of w fmt) (* (expt 2 (- scale)) (value-of-words ws fmt scale)))))
; Sums of products as linear arithmetic takes them: a constant first, and no product of a sum.
(defthmd number-when-rational (implies (rationalp x) (acl2-numberp x)))
(defthmd minus-by-constant (equal (- x) (* -1 x)))
(defthmd constants-together
  (implies (syntaxp (and (quotep j) (quotep k))) (equal (* j (* k x)) (* (* j k) x))))
(defthmd constant-first
  (implies (syntaxp (and (quotep k) (not (quotep x)))) (equal (* x (* k y)) (* k (* x y)))))
(defthmd distributivity-on-the-left (equal (* (+ x y) z) (+ (* x z) (* y z))))
(defthmd length-of-more (equal (len (cons x xs)) (+ 1 (len xs))))
(deftheory computed (union-theories (theory 'minimal-theory) (executable-counterpart-theory :here)))
(deftheory arithmetic-of-values
  (union-theories (theory 'computed)
    '(sum-of-products-of-more sum-of-sizes-of-more value-of-words-of-more abs
      rational-value integer-scaled integer-scaled-product unicity-of-0 unicity-of-1 fix number-when-rational
      minus-by-constant constants-together constant-first distributivity distributivity-on-the-left
      associativity-of-*)))
