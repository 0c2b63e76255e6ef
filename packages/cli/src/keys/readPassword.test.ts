import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { CliError, KeyError } from '../errors/cliError.ts'
import { passwordAdvice, readNewPassword, readPassword, type PasswordSources } from './readPassword.ts'

/** A terminal whose user types each line as soon as it is asked for one. */
function terminal(...lines: string[]) {
  const events = new EventEmitter()
  const log = { shown: '', raw: [] as boolean[] }
  const input = {
    isTTY: true,
    setRawMode: (isRaw: boolean) => void log.raw.push(isRaw),
    on: (event: 'data', listener: (chunk: Buffer) => void) => events.on(event, listener),
    off: (event: 'data', listener: (chunk: Buffer) => void) => events.off(event, listener),
    resume: () =>
      queueMicrotask(() => queueMicrotask(() => events.emit('data', Buffer.from(lines.shift() ?? '\u0003')))),
    pause: () => undefined,
  }
  return { log, streams: { input, output: { write: (text: string) => void (log.shown += text) } } }
}

function sources(of: Partial<PasswordSources> & Pick<PasswordSources, 'streams'>): PasswordSources {
  return { password: undefined, passwordFile: undefined, ...of }
}

describe('readPassword', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bezel-cli-'))
  after(() => rmSync(folder, { recursive: true }))

  it('asks on the terminal without showing what is typed', async () => {
    const { streams, log } = terminal('secrex\u007ft\r')
    assert.equal(await readPassword(sources({ streams }), 'Password: '), 'secret')
    assert.equal(log.shown, 'Password: \n')
    assert.deepEqual(log.raw, [true, false])
  })

  it('ends at Ctrl-C and gives the terminal back', async () => {
    const { streams, log } = terminal('sec\u0003')
    await assert.rejects(
      readPassword(sources({ streams }), 'Password: '),
      (error) => error instanceof CliError && error.exitCode === 130,
    )
    assert.deepEqual(log.raw, [true, false])
  })

  it('takes the environment, and the first line of a file', async () => {
    const { streams } = terminal()
    const passwordFile = join(folder, 'password')
    writeFileSync(passwordFile, 'from file\r\nnot this\n')
    assert.equal(await readPassword(sources({ streams, password: 'given' }), ''), 'given')
    assert.equal(await readPassword(sources({ streams, passwordFile }), ''), 'from file')
  })

  it('says what to do when there is no way to ask', async () => {
    const { streams } = terminal()
    const none = { ...streams, input: { ...streams.input, isTTY: false } }
    await assert.rejects(
      readPassword(sources({ streams: none }), ''),
      (error) => error instanceof KeyError && /BEZEL_KEYSTORE_PASSWORD_FILE/.test(error.message),
    )
    await assert.rejects(readPassword(sources({ streams, passwordFile: join(folder, 'none') }), ''), KeyError)
    await assert.rejects(readPassword(sources({ streams, password: 'a', passwordFile: 'b' }), ''), KeyError)
  })

  it('says where a password that does not fit came from', () => {
    const { streams } = terminal()
    assert.match(passwordAdvice(sources({ streams, password: 'a' }), 'x.json'), /^Set BEZEL_KEYSTORE_PASSWORD to/)
    assert.match(
      passwordAdvice(sources({ streams, passwordFile: 'pw' }), 'x.json'),
      /^The first line of pw \(BEZEL_KEYSTORE_PASSWORD_FILE\) must be the password of x\.json\.$/,
    )
    assert.equal(passwordAdvice(sources({ streams }), 'x.json'), 'Type the password of x.json again.')
  })

  it('asks twice for a new one, and refuses an empty one', async () => {
    assert.equal(await readNewPassword(sources({ streams: terminal('one\r', 'one\r').streams })), 'one')
    await assert.rejects(readNewPassword(sources({ streams: terminal('one\r', 'two\r').streams })), /differ/)
    await assert.rejects(readNewPassword(sources({ streams: terminal('\r').streams })), /empty/)
    await assert.rejects(readNewPassword(sources({ streams: terminal().streams, password: '' })), /empty/)
  })
})
