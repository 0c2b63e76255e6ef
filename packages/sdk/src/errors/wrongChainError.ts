import { BezelError } from './bezelError.ts'

/** Two sides mean different chains. Nothing was signed or sent. */
export class WrongChainError extends BezelError {
  override readonly name = 'WrongChainError'
  readonly expected: number
  readonly found: number

  constructor(of: { readonly who: string; readonly expected: number; readonly found: number }) {
    const message = `${of.who} is on chain ${of.found}, but chain ${of.expected} is meant. Connect it to chain ${of.expected}, or make a client of the other chain.`
    super('WRONG_CHAIN', message)
    this.expected = of.expected
    this.found = of.found
  }
}
