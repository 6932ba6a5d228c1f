#!/bin/bash
#SBATCH --job-name=bell-bench
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=16
#SBATCH --time=24:00:00
# Starts a Ray cluster on the nodes of this allocation and runs bell-bench on it:
#   sbatch slurm.sh --algo picle --scale standard --out /shared/runs
# For GPUs add e.g. --gpus-per-node=4 after sbatch, and --device cuda at the end.
# Ended by its time limit, the same command goes on where it was.
set -euo pipefail

port=${PORT:-6379}
resources=(--num-cpus="${SLURM_CPUS_PER_TASK:-1}" --num-gpus="${SLURM_GPUS_ON_NODE:-0}")

# Whoever can reach a Ray cluster can run code on it: this one asks for a token of its own, which an
# older Ray would not heed.
version=$(ray --version | awk '{print $NF}')
if [[ $(printf '%s\n' 2.52 "$version" | sort -V | sed -n 1p) != 2.52 ]]; then
  echo "this needs Ray 2.52, which asks for a token, or a newer one; here is Ray $version" >&2
  exit 1
fi
export RAY_AUTH_MODE=token RAY_AUTH_TOKEN_PATH="$HOME/.bell-bench-ray-$SLURM_JOB_ID"
trap 'rm -f "$RAY_AUTH_TOKEN_PATH"; kill $(jobs -p) 2>/dev/null || true' EXIT
(umask 077 && python3 -c 'import secrets; print(secrets.token_hex(32), end="")' >"$RAY_AUTH_TOKEN_PATH")

first=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | sed -n 1p)
ip=$(srun --nodes=1 --ntasks=1 --nodelist="$first" hostname --ip-address | awk '{print $1}')
srun --overlap --nodes=1 --ntasks=1 --nodelist="$first" \
  ray start --head --block --node-ip-address="$ip" --port="$port" "${resources[@]}" \
  --include-dashboard=false --disable-usage-stats &

for _ in $(seq 60); do
  ray status --address="$ip:$port" >/dev/null 2>&1 && break
  sleep 2
done

others=$((SLURM_JOB_NUM_NODES - 1))
if ((others > 0)); then
  srun --overlap --nodes="$others" --ntasks="$others" --exclude="$first" \
    ray start --address="$ip:$port" --block "${resources[@]}" --disable-usage-stats &
fi

bell-bench evaluate --executor ray --address "$ip:$port" "$@"
