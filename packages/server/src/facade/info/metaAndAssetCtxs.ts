import { assetCtxTexts, type AssetCtx } from './assetCtx.ts'
import { noFields } from './infoRequest.ts'
import { defineInfo, remembered } from './infoType.ts'
import { metaOf, NO_META, type Meta } from './meta.ts'

/** The meta, and the contexts in the order of its universe. */
type MetaAndAssetCtxs = readonly [meta: Meta, assetCtxs: readonly AssetCtx[]]

const rememberedBoth = remembered<MetaAndAssetCtxs>(
  (reads) => `${reads.marketsVersion()} ${reads.priceVersion()}`,
  (reads) => `[${metaOf(reads).text},[${assetCtxTexts(reads).join(',')}]]`,
)

/** The markets that can be traded, and the state of each. */
export const metaAndAssetCtxs = defineInfo<void, MetaAndAssetCtxs>({
  parse: noFields,
  answer(_request, reads) {
    reads.markets()
    return rememberedBoth(reads)
  },
  inOtherDex: () => [NO_META, []],
})
