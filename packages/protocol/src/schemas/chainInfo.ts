import { Type, type Static } from '@sinclair/typebox'
import { AddressSchema, Annotated, ChainSlugSchema, Closed, HexSchema, Nullable, TimestampSchema } from './scalars.ts'

const KnownSinceSchema = Type.Object(
  {
    block: Type.Integer({ description: 'Fills and ended orders of blocks before this one are not known.' }),
    timestamp: Annotated(Nullable(TimestampSchema), {
      description: 'Time of that block in epoch milliseconds; null while it is not known.',
      examples: [1_794_825_107_000],
    }),
  },
  { title: 'KnownSince', description: 'The begin of the known history of a chain.' },
)

const DomainSchema = Closed(
  {
    name: Type.String(),
    version: Type.Literal('1'),
    chainId: Type.Integer(),
    verifyingContract: AddressSchema,
  },
  {
    name: 'Name of this deployment in signatures.',
    version: 'Version of the signing scheme, always "1".',
    chainId: 'Id of the chain.',
    verifyingContract: 'Diamond of the chain.',
  },
  { title: 'TypedDataDomain', description: 'The EIP-712 domain of every signature for this chain.' },
)

const FieldSchema = Closed(
  { name: Type.String(), type: Type.String() },
  { name: 'Name of the field.', type: 'Type of the field in Solidity.' },
  { title: 'SignedField', description: 'A field of a signed struct.' },
)

const WalletTypesSchema = Closed(
  {
    AgentAuthorization: Type.Array(FieldSchema),
    AgentRevocation: Type.Array(FieldSchema),
    ApiKeyIssue: Type.Array(FieldSchema),
  },
  {
    AgentAuthorization:
      'Fields of the struct for createAgent. No name, leverage or cap is `""`, all markets are `"*"`, a list of markets is joined by `,`, no expiry is 0.',
    AgentRevocation: 'Fields of the struct for revokeAgent.',
    ApiKeyIssue: 'Fields of the struct for issueApiKey.',
  },
  { title: 'WalletTypes', description: "The structs that a trader's wallet signs, by their primary type." },
)

export const ChainInfoSchema = Closed(
  {
    chain: ChainSlugSchema,
    chainId: Type.Integer(),
    diamond: AddressSchema,
    relayer: Nullable(AddressSchema),
    testnet: Type.Boolean(),
    knownSince: Nullable(KnownSinceSchema),
    signing: Closed(
      { domain: DomainSchema, fields: Type.Array(FieldSchema), emptyBodyHash: HexSchema, types: WalletTypesSchema },
      {
        domain: 'EIP-712 domain of every signature for this chain.',
        fields: 'Fields of the struct of a signed request, the same for every operation.',
        emptyBodyHash: '`bodyHash` of a request without a body: keccak256 of nothing.',
        types:
          "Structs that the trader's wallet signs in the bodies of createAgent, revokeAgent and issueApiKey, as the `types` of EIP-712.",
      },
    ),
  },
  {
    chain: 'Name of the chain in paths.',
    chainId: 'Id of the chain, as wallets know it.',
    diamond: 'Address of the trading contract, which prepared transactions call.',
    relayer: 'Address that sends the transactions of the facade; null where the facade only reads.',
    testnet: 'True when the money on the chain has no worth.',
    knownSince:
      'The block since which the history of the chain is known. What was open at it is known as well. Null while that is being read, and when it was a configured first block that is configured no longer.',
    signing: 'Domain, fields and structs for signing.',
  },
  { title: 'ChainInfo', description: 'A chain that this deployment serves.' },
)
export type ChainInfo = Static<typeof ChainInfoSchema>
