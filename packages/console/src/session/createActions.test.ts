import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { signal } from '@preact/signals'
import type { BezelClient } from '@bezel/sdk'
import { createActions, ShownProblemError, type Needs } from './createActions.ts'
import { actionKey } from './actionKey.ts'
import { createFakeOrders } from './testing/fakeOrders.ts'
import { refusal } from './testing/fakeWallet.ts'

function createPage() {
  const epoch = signal(0)
  const told: string[] = []
  const needs: Needs[] = []
  const failures: unknown[] = []
  const state = { failsWith: undefined as unknown }
  const actions = createActions({
    epoch,
    async ready(needed) {
      needs.push(needed)
      if (state.failsWith !== undefined) throw state.failsWith
      return {} as BezelClient
    },
    tell: ({ title }) => told.push(title),
    onFailure: (error) => failures.push(error),
  })
  return { ...actions, epoch, told, needs, failures, state }
}

describe('an action of the user', () => {
  it('runs once, however often one clicks, and can be repeated afterwards', async () => {
    const { runAction, isBusy, told, needs } = createPage()
    const held = Promise.withResolvers<string>()
    let runs = 0
    const click = () =>
      runAction(
        'order',
        () => {
          runs += 1
          return held.promise
        },
        { done: (id) => `Order ${id} sent` },
      )
    const [first, ...others] = [click(), click(), click()]
    assert.equal(isBusy('order').value, true)
    assert.equal(isBusy('cancel').value, false)
    assert.deepEqual(await Promise.all(others), [undefined, undefined])
    held.resolve('12')
    assert.equal(await first, '12')
    assert.deepEqual([runs, told, needs, isBusy('order').value], [1, ['Order 12 sent'], ['trade'], false])
    await click()
    assert.equal(runs, 2)
  })

  it('keeps what went wrong until the next attempt', async () => {
    const { runAction, problemOfAction, clearProblem, failures, isBusy } = createPage()
    const work = () => Promise.reject(refusal())
    assert.equal(await runAction('order', work), undefined)
    assert.equal(problemOfAction('order').value?.isRefusedByUser, true)
    assert.deepEqual([failures.length, isBusy('order').value], [1, false])
    clearProblem('order')
    assert.equal(problemOfAction('order').value, null)
    await runAction('order', work)
    await runAction('order', async () => 'done')
    assert.equal(problemOfAction('order').value, null)
  })

  it('shows the problem of the session where that stands in the way', async () => {
    const { runAction, problemOfAction, state } = createPage()
    const problem = { title: 'Wrong network', message: 'x', remedy: null, code: 'WRONG_CHAIN', isRefusedByUser: false }
    state.failsWith = new ShownProblemError(problem)
    let isRun = false
    await runAction('order', async () => (isRun = true), { needs: 'wallet' })
    assert.deepEqual([problemOfAction('order').value, isRun], [problem, false])
  })

  it('is given up at once when the account is switched, although the wallet never answers', async () => {
    const { runAction, problemOfAction, isBusy, epoch } = createPage()
    let guarded: (() => void) | undefined
    const running = runAction('order', (_client, guard) => {
      guarded = guard
      return new Promise<never>(() => undefined)
    })
    await new Promise((resolve) => setTimeout(resolve, 1))
    guarded!()
    epoch.value += 1
    assert.equal(await running, undefined)
    assert.equal(isBusy('order').value, false)
    assert.match(problemOfAction('order').value!.message, /switched meanwhile/)
    assert.throws(() => guarded!(), { code: 'ACCOUNT_CHANGED' })
  })
})

describe('the key of an action', () => {
  it('asks nothing more after a refusal, so that nobody has to say no twice', async () => {
    const { key } = createFakeOrders()
    const asked: string[] = []
    const refusing = {
      ...key,
      signer: {
        ...key.signer,
        async signTypedData() {
          asked.push('sign')
          return '0x' as const
        },
      },
      sender: {
        ...key.sender,
        async sendTransaction(): Promise<never> {
          asked.push('send')
          throw Object.assign(new Error('wrapped'), { cause: refusal() })
        },
      },
    }
    const { signer, sender } = actionKey(refusing, { onSending: () => undefined, onSent: () => undefined })
    await signer.signTypedData({} as never)
    await assert.rejects(sender.sendTransaction({} as never))
    await assert.rejects(signer.signTypedData({} as never))
    assert.deepEqual(asked, ['sign', 'send'])
  })
})
