import { ChainSlugSchema } from '@bezel/protocol'
import { Type } from '@sinclair/typebox'
import type { ServedChain } from '../../../chain/servedChain.ts'
import { defineRoute } from '../../route.ts'

const Health = Type.Object(
  {
    status: Type.Literal('ok', { description: 'Always `ok`: the process answers.' }),
    chains: Type.Array(ChainSlugSchema, { description: 'Names of the chains that this deployment serves.' }),
  },
  { title: 'Health', description: 'A sign of life.' },
)

export const healthRoute = defineRoute({
  method: 'GET',
  path: '/health',
  operationId: 'health',
  tag: 'System',
  access: 'public',
  summary: 'Reports that the process is alive, and the chains that it serves',
  description: 'It needs neither chain nor store. Whether a chain can be used is in `/ready`.',
  errors: [],
  responses: { 200: Health },
  handler: async ({ chains }: { readonly chains: readonly ServedChain[] }) => ({
    status: 'ok',
    chains: chains.map(({ slug }) => slug),
  }),
})
