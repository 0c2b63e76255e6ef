import { BezelError } from './bezelError.ts'

/** The service works with another Diamond than the pinned one. Nothing was signed or sent. */
export class WrongDiamondError extends BezelError {
  override readonly name = 'WrongDiamondError'
  readonly expected: string
  readonly found: string

  constructor(expected: string, found: string) {
    const message = `The service uses the Diamond ${found}, but ${expected} is pinned. Do not trade through it before you know why: check the base URL and the pinned address.`
    super('WRONG_DIAMOND', message)
    this.expected = expected
    this.found = found
  }
}
