import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { USER_SIGNED_STRUCTS } from '../signing/signers.ts'
import { ACTIONS, classifyAction } from './actions.ts'

/** The actions that public clients can send, by the names in their sources. */
const KNOWN_TO_CLIENTS = `
  CSignerAction CValidatorAction agentEnableDexAbstraction agentSetAbstraction approveAgent approveBuilderFee batchModify
  borrowLend cDeposit cWithdraw cancel cancelByCloid claimRewards convertToMultiSigUser createSubAccount createVault
  evmUserModify gossipPriorityBid linkStakingUser modify multiSig noop order perpDeploy registerReferrer
  reserveRequestWeight scheduleCancel sendAsset sendToEvmWithData setDisplayName setReferrer spotDeploy spotSend spotUser
  subAccountModify subAccountSpotTransfer subAccountTransfer tokenDelegate topUpIsolatedOnlyMargin twapCancel twapOrder
  updateIsolatedMargin updateLeverage usdClassTransfer usdSend userDexAbstraction userPortfolioMargin userSetAbstraction
  validatorL1Stream vaultDistribute vaultModify vaultTransfer withdraw3`
  .trim()
  .split(/\s+/)

describe('classifyAction', () => {
  it('knows every action of the public clients by name', () => {
    for (const name of KNOWN_TO_CLIENTS) assert.ok(Object.hasOwn(ACTIONS, name), name)
    for (const name of Object.keys(USER_SIGNED_STRUCTS)) assert.ok(Object.hasOwn(ACTIONS, name), name)
  })

  it('has names for what is to be carried out', () => {
    const named = Object.keys(ACTIONS)
      .map(classifyAction)
      .flatMap((of) => ('name' in of ? [`${of.kind} ${of.name}`] : []))
    assert.deepEqual(named, [
      'trade order',
      'trade cancel',
      'trade cancelByCloid',
      'trade modify',
      'trade batchModify',
      'trade updateLeverage',
      'trade updateIsolatedMargin',
      'trade scheduleCancel',
      'user-signed approveAgent',
    ])
  })

  it('lets the unasked ones of the clients pass', () => {
    for (const name of ['approveBuilderFee', 'setReferrer', 'noop'])
      assert.deepEqual(classifyAction(name), { kind: 'noop' })
  })

  it('refuses everything that moves funds or accounts', () => {
    const custody = `usdSend withdraw3 spotSend sendAsset usdClassTransfer vaultTransfer createVault vaultModify vaultDistribute
      createSubAccount subAccountTransfer subAccountSpotTransfer cDeposit cWithdraw tokenDelegate convertToMultiSigUser multiSig`
    for (const name of custody.split(/\s+/)) {
      assert.deepEqual(classifyAction(name), {
        kind: 'custody',
        err: `${name} is not available: this service is non-custodial and never moves funds or accounts. Use the master wallet on chain.`,
      })
    }
  })

  it('refuses the rest as not supported, names of every object and endless ones too', () => {
    const err = (name: string) => ({ kind: 'unsupported', err: `Action ${JSON.stringify(name)} is not supported.` })
    for (const name of [
      'twapOrder',
      'twapCancel',
      'userSetAbstraction',
      '',
      'Order',
      'ORDER',
      'toString',
      'constructor',
      '__proto__',
      'x"y\n',
    ]) {
      assert.deepEqual(classifyAction(name), err(name))
    }
    assert.deepEqual(classifyAction('x'.repeat(50_000)), err(`${'x'.repeat(40)}...`))
  })

  it('answers any name', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (name) => classifyAction(name).kind.length > 0))
  })
})
