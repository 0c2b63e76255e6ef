import type { SigningDomain } from '@bezel/protocol'
import { keccak256 } from './keccak256.ts'
import { typeHash } from './typeHash.ts'
import { addressWord, stringWord, uint256Word, type TypedDataWord } from './typedDataWord.ts'

const DOMAIN_TYPE_HASH = typeHash('EIP712Domain', [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
])

// By the domain object: a deployment makes one for each chain it serves, and a domain nobody holds takes its entry with it.
const separators = new WeakMap<SigningDomain, TypedDataWord>()

/** Hash of the domain, computed once for each object. Throws when its chain id or Diamond can't be encoded: that is a wrong setting. */
export function domainSeparator(domain: SigningDomain): TypedDataWord {
  const known = separators.get(domain)
  if (known !== undefined) return known
  const separator = hashDomain(domain)
  separators.set(domain, separator)
  return separator
}

function hashDomain({ name, version, chainId, verifyingContract }: SigningDomain): TypedDataWord {
  const chainIdWord = uint256Word(chainId)
  const contractWord = addressWord(verifyingContract)
  if (chainIdWord === undefined) throw new RangeError(`${chainId} is no chain id`)
  if (contractWord === undefined) throw new TypeError(`${verifyingContract} is no address`)
  const words = [DOMAIN_TYPE_HASH, stringWord(name), stringWord(version), chainIdWord, contractWord]
  return keccak256(Buffer.concat(words))
}
