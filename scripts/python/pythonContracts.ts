import { CHAINS, diamondAbi, PendingOrderType, TradeType } from '@bezel/protocol'
import { toFunctionSignature, type AbiFunction, type AbiParameter } from 'viem'

/** Functions of the Diamond that the Python client decodes, sends or reads. */
const FUNCTIONS = [
  'openTrade',
  'updateOpenOrder',
  'cancelOpenOrder',
  'cancelOrderAfterTimeout',
  'closeTradeMarket',
  'decreasePositionSize',
  'updateMaxClosingSlippageP',
  'updateSl',
  'updateTp',
  'updateLeverage',
  'delegatedTradingAction',
  'multicall',
  'setTradingDelegate',
  'removeTradingDelegate',
  'getTrades',
  'getTradeInfos',
  'getPendingOrders',
  'getCollaterals',
  'getCollateralPriceUsd',
  'pairs',
  'pairSpreadP',
  'pairMinFeeUsd',
  'getTradeCumulVolPriceImpactP',
]

/** Structs whose fields are read by name, by the function that answers a list of them. */
const STRUCTS: Readonly<Record<string, string>> = {
  TRADE_FIELDS: 'getTrades',
  TRADE_INFO_FIELDS: 'getTradeInfos',
  PENDING_ORDER_FIELDS: 'getPendingOrders',
}

/** Returns the module of what the Python client knows about chains and the Diamond. */
export function pythonContracts(): string {
  const chains = Object.values(CHAINS).map(
    ({ slug, chainId, liveDiamond }) => `    "${slug}": Chain(${chainId}, "${liveDiamond}"),`,
  )
  const functions = FUNCTIONS.map((name) => {
    const item = functionNamed(name)
    const returned = item.outputs.length === 0 ? '' : `->${item.outputs.map(typeText).join(',')}`
    return `    "${name}": Function("${toFunctionSignature(item)}${returned}"),`
  })
  const structs = Object.entries(STRUCTS).map(([name, of]) => {
    const [output] = functionNamed(of).outputs
    return `${name} = (${fieldNames(output!).join(', ')})`
  })
  return [
    HEAD,
    ['CHAINS: dict[str, Chain] = {', ...chains, '}'].join('\n'),
    ['DIAMOND: dict[str, Function] = {', ...functions, '}'].join('\n'),
    structs.join('\n'),
    [tableText('TRADE_TYPES', TradeType), tableText('PENDING_ORDER_TYPES', PendingOrderType)].join('\n'),
  ]
    .join('\n\n')
    .concat('\n')
}

const HEAD = `"""The chains and the functions of the Diamond. Made from the project's tables by \`npm run reference\`: do not edit."""

from __future__ import annotations

from typing import NamedTuple

from .abi import Function


class Chain(NamedTuple):
    """A chain and its live Diamond."""

    chain_id: int
    diamond: str

`

function functionNamed(name: string): AbiFunction {
  const found = diamondAbi.find((item) => item.type === 'function' && item.name === name)
  if (found?.type !== 'function') throw new Error(`the Diamond has no function ${name}`)
  return found
}

function typeText(parameter: AbiParameter): string {
  const { type } = parameter
  if (!type.startsWith('tuple')) return type
  return `(${componentsOf(parameter).map(typeText).join(',')})${type.slice('tuple'.length)}`
}

function componentsOf(parameter: AbiParameter): readonly AbiParameter[] {
  return 'components' in parameter ? parameter.components : []
}

function fieldNames(parameter: AbiParameter): string[] {
  return componentsOf(parameter).map(({ name }) => `"${name}"`)
}

function tableText(name: string, table: Readonly<Record<string, number>>): string {
  const entries = Object.entries(table).map(([key, value]) => `"${key}": ${value}`)
  return `${name} = {${entries.join(', ')}}`
}
