# Runs `npm start`: the set-up, then the program, which takes the place of this shell. Help comes before the set-up, so
# that it costs nobody an install.
case " $* " in
*' --help '*) exec node scripts/startHelp.mjs --help ;;
esac
node scripts/setup.mjs &
trap 'kill $!' INT TERM HUP
wait $! || exit 1
trap - INT TERM HUP
# The set-up may have brought another node, which comes first in PATH.
hash -r
exec node scripts/start.ts "$@"
