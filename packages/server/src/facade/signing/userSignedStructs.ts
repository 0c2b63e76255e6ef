import type { TypedDataField } from '@bezel/protocol'

/** Types that members of these structs have. */
export type MemberType = 'string' | 'address' | 'uint64' | 'bool'

/** What a wallet is shown for a user-signed action. */
export interface UserSignedStruct {
  readonly primaryType: string
  readonly members: readonly (TypedDataField & { readonly type: MemberType })[]
}

/** By `action.type`; the order of the members is part of what is signed. */
export const USER_SIGNED_STRUCTS: Readonly<Record<string, UserSignedStruct>> = {
  approveAgent: struct('ApproveAgent', { agentAddress: 'address', agentName: 'string', nonce: 'uint64' }),
  approveBuilderFee: struct('ApproveBuilderFee', { maxFeeRate: 'string', builder: 'address', nonce: 'uint64' }),
  usdSend: struct('UsdSend', { destination: 'string', amount: 'string', time: 'uint64' }),
  withdraw3: struct('Withdraw', { destination: 'string', amount: 'string', time: 'uint64' }),
  spotSend: struct('SpotSend', { destination: 'string', token: 'string', amount: 'string', time: 'uint64' }),
  usdClassTransfer: struct('UsdClassTransfer', { amount: 'string', toPerp: 'bool', nonce: 'uint64' }),
  sendAsset: struct('SendAsset', {
    destination: 'string',
    sourceDex: 'string',
    destinationDex: 'string',
    token: 'string',
    amount: 'string',
    fromSubAccount: 'string',
    nonce: 'uint64',
  }),
  tokenDelegate: struct('TokenDelegate', {
    validator: 'address',
    wei: 'uint64',
    isUndelegate: 'bool',
    nonce: 'uint64',
  }),
  userDexAbstraction: struct('UserDexAbstraction', { user: 'address', enabled: 'bool', nonce: 'uint64' }),
  userSetAbstraction: struct('UserSetAbstraction', { user: 'address', abstraction: 'string', nonce: 'uint64' }),
  convertToMultiSigUser: struct('ConvertToMultiSigUser', { signers: 'string', nonce: 'uint64' }),
}

/** All of them start with the name of the network. */
function struct(name: string, members: Readonly<Record<string, MemberType>>): UserSignedStruct {
  const all: Readonly<Record<string, MemberType>> = { hyperliquidChain: 'string', ...members }
  return {
    primaryType: `HyperliquidTransaction:${name}`,
    members: Object.entries(all).map(([member, type]) => ({ name: member, type })),
  }
}
