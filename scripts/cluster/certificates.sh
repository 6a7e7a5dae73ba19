#!/bin/bash
# Who may speak to the scheduler: one key, shared by scheduler, workers and grader.
#   bash scripts/cluster/certificates.sh FOLDER
#   export DASK_CONFIG=FOLDER    # for scheduler, workers and `autograder grade`; then all speak TLS and nothing else
set -euo pipefail
umask 077
mkdir -p "$1"
folder=$(cd "$1" && pwd)
seen=${2:-$folder}  # where the programs see the folder, if elsewhere (a Kubernetes secret)
openssl req -x509 -newkey rsa:3072 -nodes -days 365 -subj /CN=grading \
  -keyout "$folder/grading.key" -out "$folder/grading.crt" 2> /dev/null
{
  printf 'distributed:\n  comm:\n    require-encryption: true\n    tls:\n      ca-file: %s/grading.crt\n' "$seen"
  for role in scheduler worker client; do
    printf '      %s: {cert: %s/grading.crt, key: %s/grading.key}\n' "$role" "$seen" "$seen"
  done
} > "$folder/tls.yaml"
echo "export DASK_CONFIG=$folder"
