# Adds the agent of airflow-provider-spark-lineage to the words of spark-submit, then becomes the real command.
# A program in a shell's PATH: launch/shell/shim.py. If anything of ours fails, the words stay as they are.
#
# Variables have a prefix: a variable of the same name in the environment would be changed.
{ set +aeuvx; set -f; } 2>/dev/null
# Without an error output, bash has opened this program in its place.
[ /dev/fd/2 -ef "$BASH_SOURCE" ] && exec 2>&-
spark_lineage_task=${SPARK_LINEAGE_TASK-} spark_lineage_real=${SPARK_LINEAGE_REAL-}
spark_lineage_name=${0##*/} spark_lineage_shims=${BASH_SOURCE%/*/bin/*} spark_lineage_path=
unset SPARK_LINEAGE_TASK SPARK_LINEAGE_REAL
# A file that the script sources may have taken the path of the shim for that of Spark.
case ${SPARK_HOME-} in "$spark_lineage_shims"/*) unset SPARK_HOME ;; esac
[ "${BASH_ENV-}" = "$spark_lineage_task/functions.bash" ] && unset BASH_ENV
IFS=:
# `:` at the end, because bash drops an empty last field: it is the current folder.
spark_lineage_rest=$PATH:
for spark_lineage_folder in $spark_lineage_rest; do
  case $spark_lineage_folder in "$spark_lineage_shims"/*) continue ;; esac
  spark_lineage_path=$spark_lineage_path:$spark_lineage_folder
  spark_lineage_file=${spark_lineage_folder:-.}/$spark_lineage_name
  if [ -z "$spark_lineage_real" ] && [ -f "$spark_lineage_file" ] && [ -x "$spark_lineage_file" ] &&
    ! [ "$spark_lineage_file" -ef "$BASH_SOURCE" ]; then
    spark_lineage_real=$spark_lineage_file
  fi
done
# Not unset: an exported one stays exported, with the value that bash gives it.
IFS=$' \t\n'
PATH=${spark_lineage_path#:}
if [ -z "$spark_lineage_real" ]; then
  echo "$spark_lineage_name: command not found" >&2
  exit 127
fi
if [ -d "$spark_lineage_task/calls" ] && spark_lineage_words=$(
  exec 2>/dev/null </dev/null
  IFS= read -r spark_lineage_python <"$spark_lineage_task/python"
  "$spark_lineage_python" -I -S -c 'import sys; sys.path.append(sys.argv.pop(1))
from airflow_provider_spark_lineage.airflow.launch.shell.add_agent import main
main(*sys.argv[1:])' "$spark_lineage_shims/../../../../.." "$spark_lineage_task" "$spark_lineage_real" "$$" "$@"
  # Not the last command: the shell in front would say that a signal ended it.
  exit $?
) && [ -n "$spark_lineage_words" ]; then
  # Returns if the words are too many or too long with ours.
  shopt -s execfail
  eval "exec \"\$spark_lineage_real\" $spark_lineage_words"
  shopt -u execfail
fi
exec "$spark_lineage_real" "$@"
