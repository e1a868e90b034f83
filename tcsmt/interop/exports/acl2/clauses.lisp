; Theorems about words by symbolic simulation (GL), whose clauses are refuted elsewhere: the refutation, in the
; LRAT format, is checked here by a verified checker. No solver is trusted, and none is run.

(in-package "GL")
(include-book "centaur/gl/gl" :dir :system)
(include-book "centaur/aignet/aig-cnf" :dir :system)
(include-book "centaur/satlink/lrat-interface" :dir :system)
(include-book "projects/sat/lrat/stobj-based/soundness" :dir :system)
(local (include-book "centaur/satlink/cnf-basics" :dir :system))

; What refutes a formula: anything. A wrong one is refused.
(encapsulate (((refutation-of *) => *)) (local (defun refutation-of (formula) formula)))

(defun has-empty-clause (cnf)
  (declare (xargs :guard t))
  (and (consp cnf) (or (atom (car cnf)) (has-empty-clause (cdr cnf)))))

(defthmd empty-clause-is-false
  (implies (has-empty-clause cnf)
           (not (equal (satlink::eval-formula cnf env) 1)))
  :hints (("goal" :in-theory (enable satlink::eval-formula satlink::eval-clause))))

(defun formula-refuted-p (cnf)
  (declare (xargs :guard (satlink::lit-list-listp cnf)))
  (or (has-empty-clause cnf)
      (let ((formula (satlink::formula-to-lrat-formula cnf 1)))
        (lrat::refutation-p$ (refutation-of formula) formula))))

(defthm formula-refuted-p-correct
  (implies (formula-refuted-p cnf)
           (not (equal (satlink::eval-formula cnf env) 1)))
  :hints (("goal"
           :use (empty-clause-is-false
                 (:instance lrat::main-theorem-stobj-based
                  (proof (refutation-of (satlink::formula-to-lrat-formula cnf 1)))
                  (formula (satlink::formula-to-lrat-formula cnf 1)))
                 (:instance lrat::satisfiable-suff
                  (assignment (satlink::env$-to-lrat-assignment (+ 1 (satlink::max-index-formula cnf)) env))
                  (formula (satlink::formula-to-lrat-formula cnf 1))))
           :in-theory (e/d (lrat::solution-p) (lrat::refutation-p$)))))

(in-theory (disable formula-refuted-p))

(define aig-refuted-p (aig)
  (b* (((acl2::local-stobjs aignet::sat-lits aignet::aignet)
        (mv ok aignet::sat-lits aignet::aignet))
       ((mv cnf ?lit ?vars aignet::sat-lits aignet::aignet)
        (aignet::aig->cnf aig aignet::sat-lits aignet::aignet)))
    (mv (formula-refuted-p cnf) aignet::sat-lits aignet::aignet))
  ///
  (defthm aig-refuted-p-correct
    (implies (acl2::aig-eval aig env) (not (aig-refuted-p aig)))
    :hints (("goal"
             :use ((:instance aignet::aig-satisfying-assign-induces-aig->cnf-satisfying-assign
                    (aig aig) (env env) (gatesimp (aignet::default-gatesimp)) (transform-config nil)
                    (aignet::sat-lits (aignet::create-sat-lits))
                    (aignet::aignet (acl2::create-aignet))))
             :in-theory (disable aignet::aig-satisfying-assign-induces-aig->cnf-satisfying-assign)))))

(defun bfr-by-refutation (prop)
  (declare (xargs :guard t))
  (bfr-case :bdd (mv nil nil nil)
            :aig (if (aig-refuted-p prop) (mv nil t nil) (mv nil nil nil))))

(defattach bfr-mode bfr-aig)
(defattach bfr-counterex-mode bfr-counterex-alist)
(defattach (bfr-sat bfr-by-refutation) :hints (("Goal" :in-theory (enable bfr-eval))))

; Whether hypotheses contradict each other is not asked here: each book has an inhabitant of its domain.
(defun not-vacuous (prop) (declare (xargs :guard t) (ignore prop)) (mv t t nil))
(defattach bfr-vacuity-check not-vacuous)

(defun no-refutation (formula) (declare (xargs :guard t) (ignore formula)) nil)
(defattach refutation-of no-refutation)
