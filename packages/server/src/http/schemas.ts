import { CHAIN_SLUGS } from '@bezel/protocol'
import { Type } from '@sinclair/typebox'

// Scalars of the interface, once, for the schemas of the routes.

export const ChainSlugSchema = Type.Union(CHAIN_SLUGS.map((slug) => Type.Literal(slug)))

export const AddressSchema = Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' })

export const HexSchema = Type.String({ pattern: '^0x[0-9a-fA-F]*$' })
