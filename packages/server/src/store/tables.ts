/**
 * Every table of the schema that holds data, each after the tables that it refers to, so that rows can be copied in
 * this order. A test compares the list with the schema.
 */
export const TABLES: readonly string[] = [
  'chains',
  'chain_times',
  'commits',
  'blocks',
  'snapshots',
  'unproven_traders',
  'reindexes',
  'reference_prices',
  'agents',
  'api_keys',
  'scope_markets',
  'accepted_structs',
  'claims',
  'claim_networks',
  'nonces',
  'nonce_floor',
  'nonce_keeper',
  'id_sequence',
  'orders',
  'attempts',
  'attempt_orders',
  'change_charges',
  'order_events',
  'positions',
  'position_attempts',
  'position_events',
  'fills',
  'spend',
  'account_logs',
  'account_events',
  'candles',
  'running_candles',
  'notice_sequence',
  'notices',
  'notice_dismissals',
  'seen_delegations',
  'facade_nonces',
  'facade_nonce_floor',
  'facade_triggers',
  'facade_former_triggers',
  'facade_placed_triggers',
  'facade_trigger_changes',
  'facade_inheriting_orders',
  'facade_slippage_restores',
  'facade_leverages',
  'facade_cloids',
  'facade_schedules',
  'relay_senders',
  'relay_entries',
  'relay_versions',
  'relay_gas',
  'relay_exits',
  'relay_exit_uses',
  'relay_aside',
  'relay_traders',
  'audit_log',
  'audit_ids',
  'controls',
  'leases',
]

/** The table that counts migrations, which every store makes for itself. */
export const VERSION_TABLE = 'schema_version'

/** The table that has the kind of each migration that ran, which every store makes for itself. */
export const STEPS_TABLE = 'schema_steps'

/** The table of the services that run on the data now. */
export const NODES_TABLE = 'nodes'

/** Tables that describe the store and who uses it. They hold no data, so a copy leaves them out. */
export const OWN_TABLES: readonly string[] = [VERSION_TABLE, STEPS_TABLE, NODES_TABLE]
