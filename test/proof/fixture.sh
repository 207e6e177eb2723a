# Makes the repository of the proofs in the working directory, which holds directories and text files already. Whatever
# the examples of the rules name is here: branches, a merge, a rename, lightweight and annotated tags, two stashes (one with untracked files),
# notes, a remote with tracking branches, a linked work tree, a submodule, ignored and untracked files, a commit that claims
# to be signed. Stats in its index, and in the submodule's, are stale, so that a reader which refreshes an index would
# rewrite it, if STALE says so. ORIGIN and LINKED are where its remote and its linked work tree go.
set -eu

export GIT_AUTHOR_NAME='A Tester' GIT_AUTHOR_EMAIL=tester@example.invalid
export GIT_COMMITTER_NAME='A Tester' GIT_COMMITTER_EMAIL=tester@example.invalid
export GIT_CONFIG_NOSYSTEM=1 LC_ALL=C
count=0
# Every commit has a day of its own, in the past, so that what is printed of it does not change.
commit() {
  count=$((count + 1))
  printf -v GIT_AUTHOR_DATE '2024-01-%02dT12:00:00Z' "$count"
  export GIT_AUTHOR_DATE GIT_COMMITTER_DATE=$GIT_AUTHOR_DATE
  git commit -q "$@"
}
lines() { for ((n = 0; n < $2; n++)); do echo "$1 $n foo"; done; }
# Begins as the sources do that the examples search.
source() {
  printf 'export function foo() {}\n// TODO: class MyError\nbar\n'
  lines "$1" "$2"
}

git init -q -b main
git config branch.main.description 'where work comes together'
printf 'dist\nnode_modules\nbuilt\n' >.gitignore
source first 40 >src/a.ts
lines other 10 >src/b.ts
echo 'export {};' >packages/core/index.ts
printf '# start\nfoo x (a|b)\nend\n-x a.b aaa\n' >README.md
printf '{ "name": "core", "version": "1.0.0", "description": "x", "scripts": { "build": "touch built", "prepare": "touch built" } }\n' >package.json
printf '{ "name": "react", "version": "18.0.0" }\n' >node_modules/react/package.json
echo one >a.txt
echo two >b.txt
git add -A
commit -m first
git tag v1.0
for step in {0..21}; do
  source "text $step" $((40 + step)) >src/a.ts
  commit -am "change $step"
done
git tag -a -m 'a release' v1.1
for name in develop master feature/x; do git branch -q "$name"; done
git checkout -q -b feature/side HEAD~2
echo 'foo bar some text' >src/side.ts
git add -A
commit -m 'side, with a bug and a fix'
git checkout -q main
count=$((count + 1))
printf -v GIT_AUTHOR_DATE '2024-01-%02dT12:00:00Z' "$count"
GIT_COMMITTER_DATE=$GIT_AUTHOR_DATE git merge -q --no-ff -m merge feature/side
git mv src/b.ts src/c.ts
commit -m rename
signed=$(git cat-file commit HEAD | sed 's/^rename$/signed/; /^committer/a gpgsig -----BEGIN PGP SIGNATURE-----\n \n bm8gc2lnbmF0dXJl\n -----END PGP SIGNATURE-----' | git hash-object -t commit -w --stdin)
git reset -q --hard "$signed"
git notes add -m 'a note' HEAD
echo 'export const b = 1;' >src/b.ts
git add -A
commit -m 'b again'
git notes --ref=review add -m reviewed HEAD
git clone -q --bare . "$ORIGIN"
git remote add origin "$ORIGIN"
git fetch -q origin
git branch -q --set-upstream-to=origin/main
git -c protocol.file.allow=always submodule --quiet add "$ORIGIN" vendor
commit -m 'a submodule'
git notes --ref=review add -m reviewed HEAD
git worktree add -q "$LINKED" feature/side
source stashed 12 >src/a.ts
git stash -q
echo new >untracked.txt
source 'stashed again' 9 >src/a.ts
git stash push -q -u
echo built >dist/out.js
echo foo >src/new.ts
source 'not committed' 45 >src/a.ts
git add src/a.ts
echo changed >b.txt
if [ "$STALE" = no ]; then exit 0; fi
touch -d 2001-02-03T04:05:06Z a.txt src/c.ts .gitignore packages/core/index.ts vendor/a.txt
