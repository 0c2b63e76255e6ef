import { moneyEventsAbi, orderEventsAbi, storageEventsAbi, type Hex } from '@bezel/protocol'
import { toEventSelector, type Abi, type AbiEvent, type ContractEventName, type DecodeEventLogReturnType } from 'viem'
import { fieldsReader } from './abiReader.ts'

/** The part of a log that a decoder reads. The hexadecimal digits are lower case. */
export interface RawLog {
  readonly topics: readonly Hex[]
  readonly data: Hex
}

/** The arguments of an event, as viem types them. */
type EventArgs<A extends Abi, Name extends ContractEventName<A>> =
  DecodeEventLogReturnType<A, Name> extends { readonly args: infer Args } ? Args : never

/** Decoder of one kind of event. */
export interface EventDecoder<Name extends string, Args> {
  readonly name: Name
  readonly topic0: Hex
  /** Decodes a log. Throws an `EventDecodeError` when it does not match the ABI. */
  decode(log: RawLog): Args
}

/**
 * The events of the Diamond from which orders, positions and fills are built; all others are ignored. The follower
 * handles each of them in `applyEvent.ts`.
 */
const DECODERS = [
  /** The first-generation borrowing fee of a position was settled: it owes only what accrues after this block. */
  defineEvent(moneyEventsAbi, 'BorrowingInitialAccFeesStored'),
  /** A trader took back a request that the oracle never answered. */
  defineEvent(orderEventsAbi, 'ChainlinkCallbackTimeout'),
  /** A trading fee was distributed. Precedes the execution event that it was charged for. */
  defineEvent(moneyEventsAbi, 'FeesProcessed'),
  /** A fee went to the treasury. Before the refusal of an open it is what the refusal costs. */
  defineEvent(moneyEventsAbi, 'GovFeeCharged'),
  /** Pending holding fees of a position were charged; carries its new totals. */
  defineEvent(moneyEventsAbi, 'HoldingFeesChargedOnTrade'),
  /** Pending holding fees of a position became realised loss or profit; carries the new total. */
  defineEvent(moneyEventsAbi, 'HoldingFeesRealizedOnTrade'),
  /** A leverage update was executed, or refused when `cancelReason` is not 0. */
  defineEvent(orderEventsAbi, 'LeverageUpdateExecuted'),
  /**
   * A trigger was executed: a resting order (`limitIndex`) became a position (`index`), or a position was closed by
   * take profit, stop loss or liquidation.
   */
  defineEvent(orderEventsAbi, 'LimitExecuted'),
  /** A market close was refused when the oracle answered; the position stays. */
  defineEvent(orderEventsAbi, 'MarketCloseCanceled'),
  /**
   * A market open or close was executed. `marketPrice` is the execution price; for an open, `index` is that of the new
   * position.
   */
  defineEvent(orderEventsAbi, 'MarketExecuted'),
  /** A market open was refused when the oracle answered. */
  defineEvent(orderEventsAbi, 'MarketOpenCanceled'),
  /** A trader cancelled its resting order. */
  defineEvent(orderEventsAbi, 'OpenLimitCanceled'),
  /**
   * A resting order's terms changed. `sl` is the stop loss that the Diamond accepted, which may differ from the
   * request.
   */
  defineEvent(storageEventsAbi, 'OpenOrderDetailsUpdated'),
  /** A request is over: answered, refused or reclaimed. Follows the event that tells which. */
  defineEvent(storageEventsAbi, 'PendingOrderClosed'),
  /**
   * A request waits for the oracle. `trade` holds its terms, read according to the order type; for a bot's trigger,
   * `user` is the bot.
   */
  defineEvent(storageEventsAbi, 'PendingOrderStored'),
  /** Profit or loss of an open position was realised; carries the new total. */
  defineEvent(moneyEventsAbi, 'PnlRealizedOnOpenTrade'),
  /** A partial close was executed, or refused when `cancelReason` is not 0. */
  defineEvent(orderEventsAbi, 'PositionSizeDecreaseExecuted'),
  /** A size increase was executed, or refused when `cancelReason` is not 0. */
  defineEvent(orderEventsAbi, 'PositionSizeIncreaseExecuted'),
  /** A position was closed, or a resting order ended: executed or cancelled. */
  defineEvent(storageEventsAbi, 'TradeClosed'),
  /** A position's collateral changed and nothing else. Only live contracts emit it. */
  defineEvent(storageEventsAbi, 'TradeCollateralUpdated'),
  /** A partial close took its share of a position's fee record; carries the whole new one, which nothing else tells. */
  defineEvent(moneyEventsAbi, 'TradeFeesDataDownscaled'),
  /** The holding fees of a position were settled: it owes only those that accrue after this block. */
  defineEvent(moneyEventsAbi, 'TradeInitialAccFeesStored'),
  /** The maximum slippage for closing a position changed. */
  defineEvent(storageEventsAbi, 'TradeMaxClosingSlippagePUpdated'),
  /** Profit of an open position was paid out at its trader's request. Only live contracts emit it. */
  defineEvent(orderEventsAbi, 'TradePositivePnlWithdrawn'),
  /** The size, leverage or collateral of a position changed; carries every field that such a change can touch. */
  defineEvent(storageEventsAbi, 'TradePositionUpdated'),
  /** A position's stop loss changed at once, without the oracle. `newSl` is the value that the Diamond accepted. */
  defineEvent(storageEventsAbi, 'TradeSlUpdated'),
  /**
   * A position was opened (`tradeType` TRADE, when the oracle answered) or an order placed (LIMIT or STOP, by the
   * trader's own transaction).
   */
  defineEvent(storageEventsAbi, 'TradeStored'),
  /** A position's take profit changed at once, without the oracle. */
  defineEvent(storageEventsAbi, 'TradeTpUpdated'),
  /** A fee was charged to an open position; carries its new totals. */
  defineEvent(moneyEventsAbi, 'TradingFeesRealized'),
] as const

/** The event that a decoder reads; `name` determines the type of `args`. */
export type Decoded<Decoder> =
  Decoder extends EventDecoder<infer Name, infer Args> ? { readonly name: Name; readonly args: Args } : never

/** A decoded event; `name` determines the type of `args`. */
export type DiamondEvent = Decoded<(typeof DECODERS)[number]>
type EventName = DiamondEvent['name']
export type EventOf<Name extends EventName> = Extract<DiamondEvent, { readonly name: Name }>

/** The names of all events that are decoded. */
export const USED_EVENTS: readonly EventName[] = DECODERS.map(({ name }) => name)

/** The first topics of all events that are decoded, with their names. */
export const USED_TOPICS: ReadonlyMap<Hex, EventName> = new Map(DECODERS.map(({ topic0, name }) => [topic0, name]))

/** Decodes a log of a used kind. */
export const decodeLog = createLogDecoder(DECODERS)

/**
 * Makes a function that decodes logs of these kinds. It returns `undefined` for a log of another kind, and throws an
 * `EventDecodeError` for one that does not match the ABI.
 */
export function createLogDecoder<Decoder extends EventDecoder<string, unknown>>(
  decoders: readonly Decoder[],
): (log: RawLog) => Decoded<Decoder> | undefined {
  const byTopic = new Map(decoders.map((decoder) => [decoder.topic0, decoder]))
  return (log) => {
    const [topic0] = log.topics
    const decoder = topic0 === undefined ? undefined : byTopic.get(topic0)
    return decoder === undefined ? undefined : ({ name: decoder.name, args: decoder.decode(log) } as Decoded<Decoder>)
  }
}

/**
 * Makes the decoder of an event from its ABI entry. All used events have a fixed layout, so the length of a log is
 * known.
 */
export function defineEvent<const A extends Abi, const Name extends ContractEventName<A>>(
  abi: A,
  name: Name,
): EventDecoder<Name, EventArgs<A, Name>> {
  const item = abi.find((entry): entry is AbiEvent => entry.type === 'event' && entry.name === name)
  if (item === undefined) throw new Error(`the ABI has no event ${name}`)
  const indexed = item.inputs.filter((input) => input.indexed)
  const inTopics = fieldsReader(indexed)
  const inData = fieldsReader(item.inputs.filter((input) => !input.indexed))
  const dataLength = 2 + 64 * inData.fixedWords!

  return {
    name,
    topic0: toEventSelector(item) as Hex,
    decode({ topics, data }) {
      if (topics.length !== indexed.length + 1 || data.length !== dataLength) throw new EventDecodeError(name)
      try {
        const [, ...words] = topics.map((topic) => topic.slice(2))
        return Object.assign(inTopics.read(words.join(''), 0) as object, inData.read(data, 2)) as EventArgs<A, Name>
      } catch (error) {
        throw new EventDecodeError(name, { cause: error })
      }
    },
  }
}

/**
 * Thrown when a log of a used kind does not match the ABI: the contract is not the known Diamond, or the node answers
 * garbage.
 */
export class EventDecodeError extends Error {
  override readonly name = 'EventDecodeError'
  /** Name of the event. */
  readonly event: string

  constructor(event: string, options?: ErrorOptions) {
    super(`a ${event} log is not as the ABI says`, options)
    this.event = event
  }
}
