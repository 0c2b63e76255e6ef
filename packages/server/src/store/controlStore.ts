import type { Address, ChainSlug } from '@bezel/protocol'
import type { Sql } from './sql.ts'

/** The switches and amounts that the operator can set while the service runs. */
export type ControlName = 'writes' | 'relayer' | 'trader' | 'agent' | 'trader_day_wei' | 'deployment_day_wei'

/** The place of a control: one per chain and name, and of traders and agents one per address. */
export interface ControlKey {
  readonly chain: ChainSlug
  readonly control: ControlName
  /** The trader or agent; `null` for a control of the whole chain. */
  readonly subject: Address | null
}

/** A control that is set. */
export interface SetControl extends ControlKey {
  /** The operator's words about a pause, or a budget in wei as decimal text. */
  readonly value: string
  readonly setAtMs: number
}

interface ControlRow {
  readonly chain: string
  readonly control: string
  readonly subject: string
  readonly value: string
  readonly set_at: bigint
}

export async function loadControls(sql: Sql): Promise<SetControl[]> {
  const rows = await sql.all<ControlRow>(
    'select chain, control, subject, value, set_at from controls order by chain, control, subject',
  )
  return rows.map(({ chain, control, subject, value, set_at }) => ({
    chain: chain as ChainSlug,
    control: control as ControlName,
    subject: subject === '' ? null : (subject as Address),
    value,
    setAtMs: Number(set_at),
  }))
}

/** Sets a control, or replaces its value. */
export async function saveControl(sql: Sql, { chain, control, subject, value, setAtMs }: SetControl): Promise<void> {
  await sql.run(
    `insert into controls (chain, control, subject, value, set_at) values ($1, $2, $3, $4, $5)
     on conflict (chain, control, subject) do update set value = $4, set_at = $5`,
    chain,
    control,
    subject ?? '',
    value,
    setAtMs,
  )
}

/** Lifts a control. Returns false when it was not set. */
export async function deleteControl(sql: Sql, { chain, control, subject }: ControlKey): Promise<boolean> {
  const where = 'chain = $1 and control = $2 and subject = $3'
  return (await sql.run(`delete from controls where ${where}`, chain, control, subject ?? '')) > 0
}
