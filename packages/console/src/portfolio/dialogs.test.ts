import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { askFlatten, closeDialog, editPosition, openedDialog, proposeTrigger } from './dialogs.ts'

describe('the dialogs of the portfolio', () => {
  beforeEach(() => closeDialog())

  it('are open one at a time', () => {
    editPosition('3', 'close')
    askFlatten('BTC/USD')
    assert.deepEqual(openedDialog.value, { kind: 'flatten', market: 'BTC/USD' })
    closeDialog()
    assert.equal(openedDialog.value, null)
  })

  it('tell the chart whether a dragged stop was sent', async () => {
    const sent = proposeTrigger('3', 'sl', '57000')
    assert.deepEqual(openedDialog.value, { kind: 'position', positionId: '3', edit: 'sl', price: '57000' })
    closeDialog(true)
    assert.equal(await sent, true)
    const left = proposeTrigger('3', 'tp', '66000')
    editPosition('4', 'tp')
    assert.equal(await left, false)
  })
})
