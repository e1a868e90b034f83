#!/bin/sh
# Certifies all books here in ACL2 from nothing, and prints the theorems and the trust tags that they rest on.
# Needs acl2, acl2-books and acl2-books-certs (Debian). The exit code is 0 if every book is certified.
set -eu
cd "$(dirname "$0")"
export ACL2_CUSTOMIZATION=NONE
rm -f ./*.cert units/*.cert statements/*.cert
tags='((:fast-cons-memo) (:aig-vars))'
# An event, and what follows it, are undone, unless the event fails.
undone() {
  echo "(ld '($1 (u)) :ld-error-action :return :ld-verbose nil)"
}
# What a session of ACL2 begins with.
beginning() {
  echo '(set-debugger-enable nil)'
  for book in centaur/gl/gl centaur/aignet/aig-cnf centaur/satlink/lrat-interface \
      projects/sat/lrat/stobj-based/soundness projects/sat/lrat/stobj-based/lrat-parser; do
    echo "(include-book \"$book\" :dir :system)"
  done
}
{
  beginning
  for book in clauses theorems; do
    undone "(certify-book \"$book\" ? t :ttags $tags)"
    echo "(include-book \"$book\" :ttags :all)"
  done
  for book in units/*.lisp; do
    undone "(certify-book \"${book%.lisp}\" ? nil :ttags $tags)"
  done
  echo '(good-bye)'
} | acl2 > certify.out 2>&1
# Certifies some books of statements, and prints their theorems.
session() {
  beginning
  for book in clauses theorems; do
    echo "(include-book \"$book\" :ttags :all :uncertified-okp nil)"
  done
  for book in "$@"; do
    undone "(certify-book \"${book%.lisp}\" ? nil :ttags $tags)"
    echo '(clear-memoize-tables)'
    echo '(hons-clear t)' # what its simulation has kept: gigabytes after some books
  done
  for book in "$@"; do
    name=$(basename "$book" .lisp)
    theorem="(or (formula 'same-word nil (w state)) (formula 'no-such-input nil (w state))
        (formula 'specified nil (w state)) (formula 'error-at-most nil (w state))
        (formula 'never-less-accurate nil (w state)))"
    tags_seen="(strip-cars (global-val 'ttags-seen (w state)))"
    undone "(include-book \"statements/$name\" :ttags :all :uncertified-okp nil)
      (cw \"~%BOOK $name~%THEOREM: ~x0~%TRUST-TAGS: ~x1~%INHABITED: ~x2~%\" $theorem $tags_seen
        (if (formula 'inhabited nil (w state)) t nil))"
  done
  echo '(good-bye)'
}
# A few books at a time: Lisp gives back no memory that it has had.
set -- statements/*.lisp
while [ $# -gt 0 ]; do
  some=$1
  shift
  while [ $# -gt 0 ] && [ "$(echo "$some" | wc -w)" -lt "8" ]; do
    some="$some $1"
    shift
  done
  session $some | acl2 >> certify.out 2>&1
done
sed -n '/^BOOK /,/^INHABITED: /p' certify.out
for book in statements/*.lisp; do
  test -e "${book%.lisp}.cert" || { echo "NOT CERTIFIED: $book"; failed=1; }
done
exit "${failed:-0}"
