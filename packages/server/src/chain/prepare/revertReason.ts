import { errorsAbi, type Hex } from '@bezel/protocol'
import { decodeErrorResult, parseAbi } from 'viem'

/** Why a call reverted, as far as its bytes tell. */
export interface RevertReason {
  /** Of the custom error, or `Error` and `Panic` of Solidity itself; the four bytes when nobody here knows them; `null` for a bare revert. */
  readonly errorName: string | null
  /** The text or number that came with it, if any. */
  readonly text: string | null
}

/** Errors of tokens that the Diamond passes on: the standard ones of ERC-20 contracts. */
const tokenErrorsAbi = parseAbi([
  'error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)',
  'error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed)',
  'error SafeERC20FailedOperation(address token)',
  'error Error(string)',
  'error Panic(uint256)',
])

const KNOWN_ERRORS = [...errorsAbi, ...tokenErrorsAbi] as const

/** Texts of other people's contracts reach our answers: no more of them than this. */
const MAX_TEXT_CHARS = 200

const SELECTOR_CHARS = 10

export function revertReason(data: Hex | undefined): RevertReason {
  if (data === undefined || data.length < SELECTOR_CHARS) return { errorName: null, text: null }
  try {
    const { errorName, args } = decodeErrorResult({ abi: KNOWN_ERRORS, data })
    const hasText = errorName === 'Error' || errorName === 'Panic'
    return { errorName, text: hasText ? String(args[0]).slice(0, MAX_TEXT_CHARS) : null }
  } catch {
    return { errorName: data.slice(0, SELECTOR_CHARS), text: null }
  }
}
