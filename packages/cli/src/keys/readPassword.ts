import { readFileSync } from 'node:fs'
import { KeyError } from '../errors/keyError.ts'
import { promptHidden, type PromptStreams } from './promptHidden.ts'

export interface PasswordSources {
  readonly password: string | undefined
  readonly passwordFile: string | undefined
  readonly streams: PromptStreams
}

/** From the environment, else asked for on the terminal without showing it. */
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
  return promptHidden(streams, prompt)
}

/** For a new key: asked for twice, since nobody sees what is typed. */
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
