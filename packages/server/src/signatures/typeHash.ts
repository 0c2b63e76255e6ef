import type { TypedDataField } from '@bezel/protocol'
import { stringWord, type TypedDataWord } from './typedDataWord.ts'

/** Hash of a struct's type, such as `AgentRevocation(address agent,uint256 timestamp)`. For members that are no structs themselves. */
export function typeHash(primaryType: string, fields: readonly TypedDataField[]): TypedDataWord {
  return stringWord(`${primaryType}(${fields.map(({ name, type }) => `${type} ${name}`).join(',')})`)
}
