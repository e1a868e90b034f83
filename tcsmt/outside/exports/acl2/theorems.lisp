; What the books of statements and units are written with.

(in-package "ACL2")
(include-book "clauses" :ttags ((:fast-cons-memo) (:aig-vars)))
(include-book "projects/sat/lrat/stobj-based/lrat-parser" :dir :system)
(include-book "ihs/basic-definitions" :dir :system)
(include-book "std/basic/arith-equivs" :dir :system)

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
