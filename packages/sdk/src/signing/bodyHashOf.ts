import { EMPTY_BODY_HASH } from '@bezel/protocol/wire'
import { keccak256, stringToBytes } from 'viem'

/** keccak256 of the exact bytes that are sent. */
export function bodyHashOf(body: string | undefined): `0x${string}` {
  return body === undefined || body === '' ? EMPTY_BODY_HASH : keccak256(stringToBytes(body))
}
