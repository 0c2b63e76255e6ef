import type { Address } from './identifiers.ts'

/**
 * Every account of the local chain, by name. Their keys follow from their names, so everybody can compute them, and the
 * addresses are all that a program needs to know such a key when it sees one. A test of the local chain compares this
 * table with the accounts that it makes.
 */
export const SANDBOX_ADDRESSES: Readonly<Record<string, string>> = Object.freeze({
  'trader-1': '0x4BCA5Ce7Fe2e5B9BF7CD90d35a9B04f29Fb0cf93',
  'trader-2': '0x8e32e79781136104B0DABBa623660D0AB79875E5',
  'trader-3': '0x7495Cc29C19D8436FC34D6B342633ce68A325932',
  'trader-4': '0xc280D43316eEa4f5A665d38b63306F159a4f1F05',
  'trader-5': '0xB32e207fF60956E9C3F5946479FaD456Da78f7F1',
  'agent-1': '0x4082c833EC182979622b4c14184d6C0EeeafDd7A',
  'agent-2': '0x040F2FBfe18ACF864F1aD2D2b0B910cD3D54AB2F',
  'agent-3': '0x8d81761bcA591AC56FDC8ac373B9b0C691575E0e',
  'agent-4': '0x3442E64020ff6FFa0B0b143dD4082D04C5Be9cC9',
  'agent-5': '0x6FF2D53917D9BB2b742487aADFd2E9Ce964F3bCd',
  'poor-1': '0xB64DAf15c190f86A0D02c97860c844F7aaf50be3',
  relayer: '0x672Cc0cd08010B1c978e7b207F86699dda873774',
  keeper: '0x63E6383479c85287e9a3Ce10e7A2f83c588e83f7',
  deployer: '0x68e67fF8291B886dc2A745441D68FD35F45aCc31',
  'oracle-1': '0x91BC359dFAFADE61906E2993a7E4f837224165F9',
  'oracle-2': '0x8F0DcD22A0F712A0ede2f9a8c6DD92BE4781C4c3',
  'oracle-3': '0x19E9a63E86D4A149E44fECd768862a9C41b2B77F',
  'oracle-4': '0x6e16ec381B2B4D2439B68eC977BBe5A4F04d2f3A',
  treasury: '0x1496C053E75453dAF6B833E5255a6F6b3F1Ff80e',
})

/** True for an address whose private key is public, because it is an account of the local chain. */
export function isSandboxAddress(address: Address): boolean {
  return Object.values(SANDBOX_ADDRESSES).includes(address)
}
