import type { DecodedField, VerifiedOrder } from '@bezel/sdk'
import { activeChain, chainInfo } from '../data/chain.ts'
import { shortAddress } from '../ground/format.ts'
import { CopyText } from '../ui/CopyText.tsx'
import { Icon } from '../ui/Icon.tsx'

/** Words for the arguments of the contracts. */
const NAMES: Readonly<Record<string, string>> = {
  user: 'Trader',
  pairIndex: 'Pair',
  leverage: 'Leverage',
  long: 'Side',
  collateralIndex: 'Token',
  tradeType: 'Kind',
  collateralAmount: 'Collateral',
  openPrice: 'Price',
  expectedPrice: 'Expected price',
  tp: 'Take profit',
  sl: 'Stop loss',
  maxSlippageP: 'Slippage',
  referrer: 'Referrer',
  index: 'Position',
}

/** The transaction that the wallet will be asked to send, decoded from its bytes after the SDK has verified them. */
export function DecodedTransaction({ verified }: { readonly verified: VerifiedOrder }) {
  const { transaction, calls } = verified
  if (transaction === null) return null
  return (
    <details class="ticket-decoded" data-testid="decoded" open>
      <summary>
        <Icon name="check" />
        Verified: the transaction does only this
      </summary>
      <dl class="ticket-lines">
        <div class="ticket-line">
          <dt>Contract</dt>
          <dd>
            <CopyText text={transaction.to} label={shortAddress(transaction.to)} />
          </dd>
        </div>
        <div class="ticket-line">
          <dt>Network</dt>
          <dd>{`${chainInfo.value?.name ?? activeChain.value}, id ${transaction.chainId}`}</dd>
        </div>
      </dl>
      {calls.map(({ name, fields }, place) => (
        <dl key={place} class="ticket-lines ticket-call">
          <div class="ticket-line">
            <dt>Call</dt>
            <dd class="ticket-code">{name}</dd>
          </div>
          {fields.map((field) => (
            <div key={field.name} class="ticket-line">
              <dt>{NAMES[field.name] ?? field.name}</dt>
              <dd class="ticket-code">
                <FieldValue {...field} />
              </dd>
            </div>
          ))}
        </dl>
      ))}
    </details>
  )
}

function FieldValue({ name, value }: DecodedField) {
  if (name === 'long') return <>{value === 'true' ? 'long' : 'short'}</>
  return /^0x[0-9a-fA-F]{40}$/.test(value) ? <CopyText text={value} label={shortAddress(value)} /> : <>{value}</>
}
