import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

// Loaded into a service by NODE_OPTIONS=--import, so that a test can tell it to collect its garbage: what it then still
// holds is what it needs.

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
process.on('SIGWINCH', () => collect())
