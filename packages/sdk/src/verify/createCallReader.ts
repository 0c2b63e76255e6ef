import { UnverifiedTransactionError } from '../errors/unverifiedTransactionError.ts'
import type { DiamondCall } from './callCodec.ts'

type NameOf = DiamondCall['functionName']
type ArgsOf<Name extends NameOf> = Extract<DiamondCall, { functionName: Name }>['args']

/** Calls in their order. Each one must be asked for by name, and none may be left. */
export interface CallReader {
  next<Name extends NameOf>(name: Name): ArgsOf<Name>
  isNext(name: NameOf): boolean
  readonly isAtEnd: boolean
  end(): void
}

export function createCallReader(calls: readonly DiamondCall[]): CallReader {
  let place = 0
  return {
    next<Name extends NameOf>(name: Name): ArgsOf<Name> {
      const call = calls[place]
      if (call?.functionName !== name) {
        throw new UnverifiedTransactionError(`call ${place + 1}`, name, call?.functionName ?? 'missing')
      }
      place += 1
      return call.args as ArgsOf<Name>
    },
    isNext: (name) => calls[place]?.functionName === name,
    get isAtEnd() {
      return place >= calls.length
    },
    end() {
      const call = calls[place]
      if (call !== undefined)
        throw new UnverifiedTransactionError(`call ${place + 1}`, 'no further call', call.functionName)
    },
  }
}
