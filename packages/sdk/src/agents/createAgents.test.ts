import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { tradingInteractionsAbi } from '@bezel/protocol/wire'
import { encodeFunctionData, getAddress } from 'viem'
import { BezelApiError } from '../errors/serviceErrors.ts'
import type { OutgoingTransaction, TransactionSender } from '../senders/transactionSender.ts'
import { CHAIN_ID, DIAMOND, TRADER } from '../testing/sampleFacts.ts'
import { createAgents, type Agents } from './createAgents.ts'

const AGENT = getAddress(`0x${'b2'.repeat(20)}`)

const DOMAIN = { name: 'Test', version: '1', chainId: CHAIN_ID, verifyingContract: DIAMOND } as const

const transactionOf = (data: `0x${string}`) => ({ to: DIAMOND as `0x${string}`, data, chainId: CHAIN_ID })

const DELEGATION = transactionOf(
  encodeFunctionData({ abi: tradingInteractionsAbi, functionName: 'setTradingDelegate', args: [AGENT] }),
)

const REVOCATION = transactionOf(
  encodeFunctionData({ abi: tradingInteractionsAbi, functionName: 'removeTradingDelegate' }),
)

function walletOf(address: `0x${string}`): TransactionSender & { readonly sent: OutgoingTransaction[] } {
  const sent: OutgoingTransaction[] = []
  return {
    sent,
    address,
    async sendTransaction(transaction) {
      sent.push(transaction)
      return `0x${'77'.repeat(32)}`
    },
  }
}

/** Agents of a client over a service that answers every question with this, and fails with an error. */
function agentsOver(answer: object, { trader }: { readonly trader?: string } = { trader: TRADER }): Agents {
  const transport = {
    call: async () => {
      if (answer instanceof Error) throw answer
      return answer as never
    },
  }
  const ownAgent = (): never => assert.fail('nobody asks for it')
  const context = { domain: async () => DOMAIN, ownAgent, trader: () => trader, onAuthorized: () => undefined }
  return createAgents(transport, '/v1/base', { ...context, now: Date.now })
}

const recordOf = (status: string) => ({ agent: { agent: AGENT, trader: TRADER, status }, delegationTx: DELEGATION })

describe('a delegation', () => {
  const wrongSender = { name: 'BezelConfigError', code: 'WRONG_SENDER' }

  it("is sent by the trader's own wallet only, and refused at once to any other", async () => {
    const [trader, stranger] = [walletOf(TRADER), walletOf(AGENT)]
    const agents = agentsOver(recordOf('pending_delegation'))
    await assert.rejects(agents.delegate({ sender: stranger, agent: AGENT }), wrongSender)
    await agents.delegate({ sender: trader, agent: AGENT, timeoutMs: 0 })
    await assert.rejects(agents.undelegate({ sender: stranger, revocationTx: REVOCATION }), wrongSender)
    await agents.undelegate({ sender: trader, revocationTx: REVOCATION })
    assert.deepEqual([trader.sent.map(({ data }) => data), stranger.sent], [[DELEGATION.data, REVOCATION.data], []])
    await assert.rejects(
      agentsOver(recordOf('active')).delegate({ sender: stranger, agent: AGENT }),
      wrongSender,
      'also when there is nothing to send',
    )
    assert.equal(await agentsOver(recordOf('active')).delegate({ sender: trader, agent: AGENT }), null)
  })

  it('needs an agent that is authorised, and says how', async () => {
    const unknown = new BezelApiError({ code: 'AGENT_NOT_FOUND', message: 'There is no such agent.', status: 404 })
    await assert.rejects(agentsOver(unknown).delegate({ sender: walletOf(TRADER), agent: AGENT }), {
      code: 'AGENT_NOT_FOUND',
      message: 'There is no such agent. Authorise the agent first (agents.authorize), on this chain.',
    })
  })

  it('is ended by any sender of a client that knows no trader', async () => {
    const sender = walletOf(AGENT)
    await agentsOver({}, {}).undelegate({ sender, revocationTx: REVOCATION })
    assert.equal(sender.sent.length, 1)
  })
})

describe('an authorisation', () => {
  /** Authorises an agent and returns who signed, and the body that was sent. */
  async function authorise(agent: Parameters<Agents['authorize']>[0]['agent']) {
    const signers: string[] = []
    const bodies: { readonly agentSignature?: string }[] = []
    const signerOf = (address: `0x${string}`) => ({
      address,
      async signTypedData(): Promise<`0x${string}`> {
        signers.push(address)
        return `0x${address.slice(2, 6)}`
      },
    })
    const transport = {
      call: async ({ body }: { readonly body?: unknown }) => {
        bodies.push(JSON.parse(JSON.stringify(body)) as (typeof bodies)[number])
        return recordOf('pending_delegation') as never
      },
    }
    const context = { domain: async () => DOMAIN, trader: () => TRADER, onAuthorized: () => undefined, now: Date.now }
    const agents = createAgents(transport, '/v1/base', { ...context, ownAgent: () => signerOf(AGENT) })
    await agents.authorize({ trader: signerOf(TRADER), ...(agent === undefined ? {} : { agent }) })
    return { signers, hasAgentSignature: bodies[0]?.agentSignature !== undefined }
  }

  it('is signed by the agent too when its key is here', async () => {
    assert.deepEqual(await authorise(undefined), { signers: [TRADER, AGENT], hasAgentSignature: true })
  })

  it('is signed by the trader alone for an address', async () => {
    assert.deepEqual(await authorise({ address: AGENT }), { signers: [TRADER], hasAgentSignature: false })
  })

  it('is refused to another wallet than that of the trader whom the client acts for, before anything is signed', async () => {
    const stranger = { address: AGENT, signTypedData: () => assert.fail('nothing is signed') }
    const refused = { name: 'BezelConfigError', code: 'WRONG_SENDER', message: new RegExp(TRADER) }
    await assert.rejects(agentsOver({}).authorize({ trader: stranger, agent: { address: AGENT } }), refused)
  })

  it('is signed once by a trader who is its own agent', async () => {
    const own = { address: TRADER as `0x${string}`, signTypedData: () => assert.fail('it has signed already') }
    assert.deepEqual(await authorise(own), { signers: [TRADER], hasAgentSignature: false })
  })
})
