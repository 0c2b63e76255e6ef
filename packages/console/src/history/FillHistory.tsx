import { fills } from '../data/account.ts'
import { FILL_COLUMNS } from '../portfolio/FillsTable.tsx'
import { DataTable } from '../ui/DataTable.tsx'
import { Empty } from '../ui/Empty.tsx'
import { MoreButton } from './MoreButton.tsx'
import { mergeEntries } from './mergeEntries.ts'
import { usePages } from './usePages.ts'

/** All executions of the account, newest first, page by page. New ones appear at the top. */
export function FillHistory() {
  const pages = usePages((client, options) => client.account.fills(options))
  const { items, problem } = pages
  const live = fills.value
  const rows = items === null || live === null ? items : (mergeEntries(live, items) ?? items)
  return (
    <>
      {(rows !== null || problem === null) && (
        <DataTable
          caption="All fills"
          columns={FILL_COLUMNS}
          rows={rows}
          rowKey={({ id }) => String(id)}
          rowTestId={({ id }) => `history-fill-${id}`}
          empty={<Empty title="Nothing was executed yet.">Fills appear here with profit, fees and funding.</Empty>}
          testId="fill-history"
        />
      )}
      <MoreButton pages={pages} what="fills" />
    </>
  )
}
