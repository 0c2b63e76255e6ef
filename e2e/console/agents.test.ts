import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createBezelClient, privateKeySender, type BezelClient } from '@bezel/sdk'
import { until } from '@bezel/testkit/until.ts'
import { Wallet } from 'ethers'
import type { Route } from 'playwright-core'
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { SOON, type SdkWorld } from '../sdk/sdkWorld.ts'
import {
  countOnChain,
  enterOrder,
  placeOrder,
  press,
  readerOf,
  reviewOrder,
  sendReviewed,
  signInAs,
  untilSigned,
} from './deeds.ts'
import { describeConsole } from './describeConsole.ts'
import type { Visit } from './visit.ts'

const ORDER = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.02', leverage: '5' } as const
const SIZE = { size: '0.02' }
const PASSWORD = 'correct horse battery staple'
const AGENTS_PATH = /\/v1\/[^/]+\/agents$/

describeConsole('an agent', {}, (story) => {
  story('is authorised, trades before the eyes of its trader, and is cut off', async ({ world, open }) => {
    const visit = await open({ path: '/agents', wallet: 'trader-2' })
    const { page, at } = visit
    await signInAs(visit)

    await at('agent-new').first().click()
    await at('agent-name').fill('breakout bot')
    await at('agent-generate').click()
    const key = await shownKey(visit)
    const agent = privateKeyToAccount(key)
    await checkKeystore(visit, key)
    await at('scope-leverage').fill('10')
    await at('scope-cap').fill('5000')
    // The key was shown once; what is left to do is still there after a reload, even one before the answer.
    await page.route(AGENTS_PATH, withholdAnswers)
    await press(visit, 'agent-authorise', at(`agent-${agent.address}`))
    await at(`agent-status-${agent.address}`)
      .filter({ hasText: /delegat/i })
      .waitFor()
    await visit.reload()
    await page.unroute(AGENTS_PATH)
    await press(
      visit,
      `agent-delegate-${agent.address}`,
      at(`agent-status-${agent.address}`).filter({ hasText: /active/i }),
    )
    assert.ok(!(await page.content()).includes(key))

    const client = await sdkClientOf(world, agent.address, key)
    const { fill } = await (await client.orders.create(ORDER)).waitForFill(SOON)
    await at(`agent-spend-${agent.address}`).filter({ hasText: /[1-9]/ }).waitFor()
    await at('audit')
      .filter({ hasText: /Delegation seen/ })
      .waitFor()
    await at('nav-portfolio').filter({ visible: true }).click()
    await at(`position-${fill.positionId}`).waitFor()

    await at('nav-agents').filter({ visible: true }).click()
    await at(`agent-revoke-${agent.address}`).click()
    await press(visit, 'confirm', at('confirm'), 'detached')
    await at(`agent-status-${agent.address}`)
      .filter({ hasText: /^\s*revoked\s*$/i })
      .waitFor()
    await at(`agent-log-${agent.address}`).click()
    const log = at('audit')
    for (const words of ['Agent authorised', 'Delegation seen on the chain', 'Agent revoked']) {
      await log.getByText(words).first().waitFor()
    }
    assert.equal(await log.getByText('API key issued').count(), 0, 'the log has what this agent did alone')
    const refused = await until('the agent is refused', async () => {
      const failure = await client.orders.create(ORDER).then(
        () => undefined,
        (error: unknown) => error as { code?: string },
      )
      return failure?.code
    })
    assert.equal(refused, 'AGENT_REVOKED')

    // The trader still is in charge: the page closes what the agent left open.
    await at('nav-portfolio').filter({ visible: true }).click()
    await at(`position-close-${fill.positionId}`).click()
    await press(visit, 'confirm', at(`position-${fill.positionId}`), 'detached')
  })

  story('of the tab itself orders without a prompt, until it is ended', async ({ world, open }) => {
    const visit = await open({ path: '/agents', wallet: 'trader-4' })
    const { at, wallet } = visit
    await signInAs(visit)
    await at('session-agent-new').click()
    await press(visit, 'session-agent-create', at('session-agent-stage').filter({ hasText: 'ready' }))
    const asked = wallet.prompts.length
    await visit.reload()
    await at('nav-trade').filter({ visible: true }).click()
    const { id } = await placeOrder(visit, await readerOf(world, 'trader-4'), { size: '0.02' })
    assert.equal(wallet.prompts.length, asked)
    await at('nav-agents').filter({ visible: true }).click()
    await press(visit, 'session-agent-end', at('session-agent-new'))
    await at('nav-trade').filter({ visible: true }).click()
    await reviewOrder(visit, { size: '0.02' })
    assert.ok(wallet.prompts.length > asked, `the wallet signs again after order ${id}`)
  })

  story('of the tab says what it lacks and what it may not do, with the cure', async ({ world, open }) => {
    const visit = await open({ path: '/agents', wallet: 'trader-1' })
    const { at, wallet } = visit
    await signInAs(visit)
    await at('session-agent-new').click()
    await at('scope-leverage').fill('5')
    await press(visit, 'session-agent-create', at('session-agent-stage').filter({ hasText: 'ready' }))
    await world.chain.send(world.chain.account('trader-1'), 'removeTradingDelegate', [])
    await at('toast')
      .filter({ hasText: /not the delegate any more/ })
      .waitFor()
    await at('session-agent-stage').filter({ hasText: 'waits for the delegation' }).waitFor()
    await at('signer-session').click()

    await at('nav-trade').filter({ visible: true }).click()
    await at('leverage').fill('5')
    await enterOrder(visit, SIZE)
    await press(visit, 'preview', at('missing-delegation'))
    await at('cure-delegation').click()
    await untilSigned(visit)
    const asked = wallet.prompts.length
    assert.equal(wallet.prompts.at(-1), 'eth_sendTransaction')
    await sendReviewed(visit)
    await until('the order', async () => (await countOnChain(world, 'trader-1')) === 1)
    assert.equal(wallet.prompts.length, asked, 'the agent signs and sends by itself')

    await at('leverage').fill('10')
    await enterOrder(visit, SIZE)
    await press(visit, 'preview', at('missing-scope'))
    await at('missing-scope')
      .filter({ hasText: /leverage.*Sign with the wallet/ })
      .waitFor()
    await at('cure-scope').click()
    await untilSigned(visit)
    assert.equal(wallet.prompts.at(-1), 'eth_signTypedData_v4')
  })

  story('reads with a key that its trader issues and ends', async ({ open }) => {
    const visit = await open({ path: '/agents' })
    const { at } = visit
    await signInAs(visit, 'trader-3')
    await at('key-label').fill('tax-report')
    await press(visit, 'key-new', at('key-issued'))
    await at('key-tax-report').waitFor()
    await visit.reload()
    await press(visit, 'keys-list', at('key-tax-report'))
    await press(visit, 'key-end-tax-report', at('key-tax-report'), 'detached')
  })
})

/** Lets the service answer a registration, and the page not hear of it. */
async function withholdAnswers(route: Route): Promise<void> {
  await (route.request().method() === 'POST' ? route.fetch() : route.continue())
}

/** Reads the key that the page shows once. */
async function shownKey({ at }: Visit): Promise<Hex> {
  return until('the key is shown', async (saw) => {
    const element = at('agent-key')
    const text = `${await element.textContent()} ${await element.inputValue().catch(() => '')}`
    saw(text)
    return /0x[0-9a-f]{64}/i.exec(text)?.[0] as Hex | undefined
  })
}

/** Downloads the key as a keystore, and opens it with another program's code. */
async function checkKeystore({ page, at }: Visit, key: Hex): Promise<void> {
  await at('keystore-password').fill(PASSWORD)
  const [download] = await Promise.all([page.waitForEvent('download'), at('keystore-download').click()])
  const text = readFileSync(await download.path(), 'utf8')
  assert.equal(Wallet.fromEncryptedJsonSync(text, PASSWORD).privateKey, key)
}

/** Returns the client of the agent's program, which runs elsewhere. The sandbox gives it gas. */
async function sdkClientOf(world: SdkWorld, address: Hex, key: Hex): Promise<BezelClient> {
  await world.chain.control('bezel_faucet', address)
  const agent = privateKeyToAccount(key)
  return createBezelClient({
    baseUrl: world.url(),
    chain: 'arbitrum-sepolia',
    agent,
    sender: privateKeySender({ account: agent, rpcUrl: world.rpcUrl }),
    trader: world.chain.account('trader-2').address,
    diamond: world.chain.diamond,
    maxRetries: 60,
  })
}
