/** The trading sessions of markets; `hours.ts` has their hours. Stocks and indices share one. */
export type MarketSession = 'crypto' | 'forex' | 'stocks' | 'commodities'

/** A New York day on which some markets stay closed. */
interface Holiday {
  readonly date: string
  readonly name: string
  readonly closes: readonly MarketSession[]
}

const STOCKS: readonly MarketSession[] = ['stocks']

const STOCKS_AND_COMMODITIES: readonly MarketSession[] = ['stocks', 'commodities']

const ALL: readonly MarketSession[] = ['stocks', 'commodities', 'forex']

/**
 * The full holidays of the New York Stock Exchange, by its published rules: a holiday on a Saturday is kept on the
 * Friday before, one on a Sunday on the Monday after, and New Year's Day on a Saturday not at all. Currencies and
 * commodities trade through most of them; which ones close those two is our own choice.
 */
export const HOLIDAYS: readonly Holiday[] = [
  { date: '2025-01-01', name: "New Year's Day", closes: ALL },
  { date: '2025-01-09', name: 'Day of mourning for President Carter', closes: STOCKS },
  { date: '2025-01-20', name: 'Martin Luther King Jr. Day', closes: STOCKS },
  { date: '2025-02-17', name: "Washington's Birthday", closes: STOCKS },
  { date: '2025-04-18', name: 'Good Friday', closes: STOCKS_AND_COMMODITIES },
  { date: '2025-05-26', name: 'Memorial Day', closes: STOCKS },
  { date: '2025-06-19', name: 'Juneteenth', closes: STOCKS },
  { date: '2025-07-04', name: 'Independence Day', closes: STOCKS },
  { date: '2025-09-01', name: 'Labor Day', closes: STOCKS },
  { date: '2025-11-27', name: 'Thanksgiving Day', closes: STOCKS },
  { date: '2025-12-25', name: 'Christmas Day', closes: ALL },
  { date: '2026-01-01', name: "New Year's Day", closes: ALL },
  { date: '2026-01-19', name: 'Martin Luther King Jr. Day', closes: STOCKS },
  { date: '2026-02-16', name: "Washington's Birthday", closes: STOCKS },
  { date: '2026-04-03', name: 'Good Friday', closes: STOCKS_AND_COMMODITIES },
  { date: '2026-05-25', name: 'Memorial Day', closes: STOCKS },
  { date: '2026-06-19', name: 'Juneteenth', closes: STOCKS },
  { date: '2026-07-03', name: 'Independence Day', closes: STOCKS },
  { date: '2026-09-07', name: 'Labor Day', closes: STOCKS },
  { date: '2026-11-26', name: 'Thanksgiving Day', closes: STOCKS },
  { date: '2026-12-25', name: 'Christmas Day', closes: ALL },
  { date: '2027-01-01', name: "New Year's Day", closes: ALL },
  { date: '2027-01-18', name: 'Martin Luther King Jr. Day', closes: STOCKS },
  { date: '2027-02-15', name: "Washington's Birthday", closes: STOCKS },
  { date: '2027-03-26', name: 'Good Friday', closes: STOCKS_AND_COMMODITIES },
  { date: '2027-05-31', name: 'Memorial Day', closes: STOCKS },
  { date: '2027-06-18', name: 'Juneteenth', closes: STOCKS },
  { date: '2027-07-05', name: 'Independence Day', closes: STOCKS },
  { date: '2027-09-06', name: 'Labor Day', closes: STOCKS },
  { date: '2027-11-25', name: 'Thanksgiving Day', closes: STOCKS },
  { date: '2027-12-24', name: 'Christmas Day', closes: ALL },
  { date: '2028-01-17', name: 'Martin Luther King Jr. Day', closes: STOCKS },
  { date: '2028-02-21', name: "Washington's Birthday", closes: STOCKS },
  { date: '2028-04-14', name: 'Good Friday', closes: STOCKS_AND_COMMODITIES },
  { date: '2028-05-29', name: 'Memorial Day', closes: STOCKS },
  { date: '2028-06-19', name: 'Juneteenth', closes: STOCKS },
  { date: '2028-07-04', name: 'Independence Day', closes: STOCKS },
  { date: '2028-09-04', name: 'Labor Day', closes: STOCKS },
  { date: '2028-11-23', name: 'Thanksgiving Day', closes: STOCKS },
  { date: '2028-12-25', name: 'Christmas Day', closes: ALL },
]

/**
 * The New York days on which stocks and indices close at 13:00, as the New York Stock Exchange announced them (press
 * releases of November 8, 2024 for 2025 to 2027 and of December 23, 2025 for 2026 to 2028): the day after Thanksgiving,
 * and the days before Independence Day and Christmas where both that day and the holiday are weekdays.
 */
export const HALF_DAYS: readonly string[] = [
  '2025-07-03',
  '2025-11-28',
  '2025-12-24',
  '2026-11-27',
  '2026-12-24',
  '2027-11-26',
  '2028-07-03',
  '2028-11-24',
]
