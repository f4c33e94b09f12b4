# shellcheck shell=bash
# A private Slurm on the hosts of hosts.sh: the controller on this machine, a node daemon on every host.

readonly slurm=/mnt/slurm
export SLURM_CONF=$slurm/slurm.conf

# slurm_up HOSTS CORES: to be called after hosts_up HOSTS; every host gets that many cores.
slurm_up() {
  local host
  mkdir -p $slurm/munge $slurm/state $slurm/log
  chmod 711 $slurm/munge
  head -c 128 /dev/urandom >$slurm/munge/key
  chmod 400 $slurm/munge/key
  munged --key-file=$slurm/munge/key --socket=$slurm/munge/socket --pid-file=$slurm/munge/pid \
    --log-file=$slurm/munge/log --seed-file=$slurm/munge/seed
  write_slurm_configuration "$1" "$2"
  slurmctld -c
  for host in $(seq "$1"); do
    mkdir -p "$slurm/spool/n$host" "$slurm/tmp/n$host"
    run_on "n$host" slurmd -N "n$host"
  done
  wait_until 20 "idle nodes" nodes_are_idle "$1"
}

nodes_are_idle() { [[ $(sinfo -h -t idle -o %D) == "$1" ]]; }

# Every node needs a TmpFS of its own: PMIx keeps its sockets there. A job that was requeued would wait for two minutes.
write_slurm_configuration() {
  cat >$SLURM_CONF <<CONFIG
ClusterName=test
SlurmctldHost=head($network.254)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$slurm/munge/socket
CredType=cred/munge
StateSaveLocation=$slurm/state
SlurmdSpoolDir=$slurm/spool/%n
SlurmctldPidFile=$slurm/slurmctld.pid
SlurmdPidFile=$slurm/slurmd-%n.pid
SlurmctldLogFile=$slurm/log/slurmctld
SlurmdLogFile=$slurm/log/slurmd-%n
MailProg=/bin/true
TmpFS=$slurm/tmp/%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=pmix
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobRequeue=1
KillWait=5
SlurmdParameters=config_overrides
NodeName=n[1-$1] NodeAddr=$network.[1-$1] CPUs=$2 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONFIG
}
