import { CliError } from '../errors/cliError.ts'
import { EXIT_CODES } from '../errors/exitCodes.ts'

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
  /** stderr: stdout is for answers. */
  readonly output: { write(text: string): unknown }
}

const CTRL_C = '\u0003'
const CTRL_D = '\u0004'
const ERASE = ['\u007f', '\b']

/** Reads a line from a terminal without showing it. */
export function promptHidden({ input, output }: PromptStreams, prompt: string): Promise<string> {
  output.write(prompt)
  input.setRawMode?.(true)
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
        if (letter === CTRL_C || letter === CTRL_D) return end(() => reject(stopped()))
        if (letter === '\r' || letter === '\n') return end(() => resolve(typed.join('')))
        typed = ERASE.includes(letter) ? typed.slice(0, -1) : [...typed, letter]
      }
    }
    input.on('data', onData)
  })
}

function stopped(): CliError {
  return new CliError('INTERRUPTED', EXIT_CODES.interrupted, 'Stopped at the password. Nothing was done.')
}
