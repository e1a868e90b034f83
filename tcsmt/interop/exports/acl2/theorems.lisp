; What the books of statements and units are written with.

(in-package "ACL2")
(include-book "clauses" :ttags ((:fast-cons-memo) (:aig-vars)))
(include-book "projects/sat/lrat/stobj-based/lrat-parser" :dir :system)
(include-book "ihs/basic-definitions" :dir :system)
(include-book "std/basic/arith-equivs" :dir :system)

; Words may be added, and compared, in any order.
(defthmd natural-when-word
  (implies (unsigned-byte-p n x) (natp x)))
(defthmd max-commutes
  (implies (and (natp x) (natp y)) (equal (max y x) (max x y))))
(defthmd max-commutes-2
  (implies (and (natp x) (natp y) (natp z)) (equal (max y (max x z)) (max x (max y z)))))
(defthmd natural-max
  (implies (and (natp x) (natp y)) (natp (max x y))))
(defthmd plus-commutes-2
  (equal (+ y (+ x z)) (+ x (+ y z))))

; The refutation in a file of the book's folder, for the theorem that comes next.
(defun refutation-event (name state)
  (declare (xargs :mode :program :stobjs state))
  (let ((file (string-append (cbd) name)))
    (mv-let (channel state) (open-input-channel file :byte state)
      (if (not channel)
          (value '(value-triple :no-refutation))
        (let ((state (close-input-channel channel state)))
          (mv-let (erp proof state) (lrat::parse-lrat-file file state)
            (mv erp
                `(progn (defconst *refutation* ',proof)
                        (defun the-refutation (formula)
                          (declare (xargs :guard t) (ignore formula))
                          *refutation*)
                        (defattach gl::refutation-of the-refutation))
                state)))))))

(defmacro with-refutation (name event)
  `(encapsulate ()
     (set-ignore-ok t)
     (local (make-event (refutation-event ,name state)))
     ,event))

; What simulations have kept, forgotten: gigabytes after some hundred lemmas.
(defmacro forgotten ()
  '(value-triple (prog2$ (clear-memoize-tables) (hons-clear nil))))
