import { connect, type Socket } from 'node:net'
import process from 'node:process'

// A process that opens connections which only cost, from many addresses, each within its bound. Its arguments are the
// port, the attack and the number of connections. It tells how many the service has not closed, first when all of them
// are open.

/** Default of BEZEL_CONNECTIONS_PER_IP. */
const PER_ADDRESS = 250
/** Interval at which a slow sender sends one more byte. */
const SLOW_MS = 1_000
const TELL_MS = 200
/** The largest body that the service takes. */
const BODY_BYTES = 64 * 1024
const BODY_HEAD = `POST /hl/arbitrum-sepolia/info HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${BODY_BYTES}\r\n\r\n`
const HEAD = 'GET /health HTTP/1.1\r\nhost: x\r\na: '

const ATTACKS: Readonly<Record<string, (socket: Socket) => void>> = {
  slow(socket) {
    socket.write(HEAD)
    const bytes = setInterval(() => socket.write('b'), SLOW_MS)
    socket.once('close', () => clearInterval(bytes))
  },
  secondHead(socket) {
    socket.write('GET /health HTTP/1.1\r\nhost: x\r\n\r\n')
    socket.once('data', () => socket.write(HEAD))
  },
  body: (socket) => void socket.write(BODY_HEAD + 'b'.repeat(BODY_BYTES - 1)),
  pipelinedBody: (socket) =>
    void socket.write(
      `GET /health HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\n\r\nb${BODY_HEAD}${'b'.repeat(BODY_BYTES - 1)}`,
    ),
  manyHeaders: (socket) => void socket.write('GET /health HTTP/1.1\r\nhost: x\r\n' + 'a: b\r\n'.repeat(990)),
  huge: (socket) => void socket.write(HEAD + 'b'.repeat(100_000)),
  halfClosed: (socket) => void socket.end(HEAD),
}

const [, , port, attack, count] = process.argv
let open = Number(count)
await Promise.all(Array.from({ length: open }, (_, at) => openConnection(at)))
const told = setInterval(() => process.send?.(open), TELL_MS)
process.once('disconnect', () => clearInterval(told))

function openConnection(at: number): Promise<void> {
  const localAddress = `127.0.1.${1 + Math.floor(at / PER_ADDRESS)}`
  const socket = connect({ host: '127.0.0.1', port: Number(port), localAddress, allowHalfOpen: true })
  // The service may end a connection by a reset.
  socket.on('error', () => undefined)
  socket.once('end', () => socket.destroy())
  socket.resume()
  return new Promise((done) => {
    socket.once('connect', () => {
      ATTACKS[attack!]!(socket)
      done()
    })
    socket.once('close', () => {
      open -= 1
      done()
    })
  })
}
