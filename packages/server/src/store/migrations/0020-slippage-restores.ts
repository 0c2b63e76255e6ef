import type { Migration } from './migration.ts'

/** Trades whose stops were set through the facade while a close kept their closing slippage tight. */
export const slippageRestores: Migration = {
  kind: 'expand',
  statements: [
    `create table facade_slippage_restores (
      position_id bigint not null primary key references positions (id),
      chain text not null
    )`,
    'create index facade_slippage_restores_by_chain on facade_slippage_restores (chain, position_id)',
  ],
}
