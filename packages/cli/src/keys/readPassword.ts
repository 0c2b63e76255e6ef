import { readFileSync } from 'node:fs'
import { KeyError, CliError, EXIT_CODES } from '../errors/cliError.ts'
import { plainText } from '../output/text.ts'

/** The part of a terminal's input that a prompt needs. */
export interface PromptInput {
  readonly isTTY?: boolean
  setRawMode?(isRaw: boolean): unknown
  on(event: 'data', listener: (chunk: Buffer) => void): unknown
  off(event: 'data', listener: (chunk: Buffer) => void): unknown
  resume(): unknown
  pause(): unknown
}

export interface PromptStreams {
  readonly input: PromptInput
  /** The stream for prompts: stderr, because stdout is for answers. */
  readonly output: { write(text: string): unknown }
}

export interface PasswordSources {
  readonly password: string | undefined
  readonly passwordFile: string | undefined
  readonly streams: PromptStreams
}

const CTRL_C = '\u0003'

const CTRL_D = '\u0004'

const ERASE = ['\u007f', '\b']

/** Returns the password from the environment, or asks for it on the terminal without showing it. */
export async function readPassword(
  { password, passwordFile, streams }: PasswordSources,
  prompt: string,
): Promise<string> {
  if (password !== undefined && passwordFile !== undefined) {
    throw new KeyError('Both BEZEL_KEYSTORE_PASSWORD and BEZEL_KEYSTORE_PASSWORD_FILE are set: leave one of them out.')
  }
  if (password !== undefined) return password
  if (passwordFile !== undefined) return readPasswordFile(passwordFile)
  if (streams.input.isTTY !== true) {
    throw new KeyError(
      'The keystore needs a password, and there is no terminal to ask on. Set BEZEL_KEYSTORE_PASSWORD_FILE.',
    )
  }
  return promptLine(streams, prompt, { isHidden: true, onStop: 'Stopped at the password. Nothing was done.' })
}

/** Returns the sentence that says where to correct the password of a keystore file that it does not fit. */
export function passwordAdvice({ password, passwordFile }: PasswordSources, path: string): string {
  if (password !== undefined) return `Set BEZEL_KEYSTORE_PASSWORD to the password of ${path}.`
  if (passwordFile !== undefined)
    return `The first line of ${passwordFile} (BEZEL_KEYSTORE_PASSWORD_FILE) must be the password of ${path}.`
  return `Type the password of ${path} again.`
}

/** Returns the password of a new key. A typed one is asked for twice, because nobody sees what is typed. */
export async function readNewPassword(sources: PasswordSources): Promise<string> {
  const password = await readPassword(sources, 'Password for the new key: ')
  if (password === '') throw new KeyError('The password is empty. Choose one: it is all that protects the file.')
  const isTyped = sources.password === undefined && sources.passwordFile === undefined
  if (isTyped && (await readPassword(sources, 'The same again: ')) !== password) {
    throw new KeyError('The two passwords differ. Nothing was written; start again.')
  }
  return password
}

function readPasswordFile(path: string): string {
  try {
    return readFileSync(path, 'utf8').split(/\r?\n/, 1)[0]!
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new KeyError(`The password file ${path} can't be read (${code}). Correct BEZEL_KEYSTORE_PASSWORD_FILE.`)
  }
}

/** Reads a line from a terminal. `onStop` is the sentence of the error for Ctrl-C and Ctrl-D. */
export function promptLine(
  { input, output }: PromptStreams,
  prompt: string,
  { isHidden, onStop }: { readonly isHidden: boolean; readonly onStop: string },
): Promise<string> {
  // The prompt comes after the terminal has stopped to echo: a fast hand would show the password.
  input.setRawMode?.(true)
  output.write(prompt)
  input.resume()
  return new Promise((resolve, reject) => {
    let typed: string[] = []
    function end(finish: () => void): void {
      input.off('data', onData)
      input.setRawMode?.(false)
      input.pause()
      output.write('\n')
      finish()
    }
    function onData(chunk: Buffer): void {
      for (const letter of chunk.toString('utf8')) {
        if (letter === CTRL_C || letter === CTRL_D) {
          return end(() => reject(new CliError('INTERRUPTED', EXIT_CODES.interrupted, onStop)))
        }
        if (letter === '\r' || letter === '\n') return end(() => resolve(typed.join('')))
        if (!isHidden) output.write(echoOf(letter, typed.length))
        typed = ERASE.includes(letter) ? typed.slice(0, -1) : [...typed, letter]
      }
    }
    input.on('data', onData)
  })
}

/** Returns what a terminal shows for a typed letter. Erasing takes the last of `count` letters away. */
function echoOf(letter: string, count: number): string {
  if (!ERASE.includes(letter)) return plainText(letter)
  return count === 0 ? '' : '\b \b'
}
