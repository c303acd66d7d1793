import type { DeletedPrefixData } from '@crux/contract'
import { useTranslation } from 'react-i18next'

/** What became of the data, when not all of it could be deleted. */
export function PrefixDataResult({ prefix, result }: { prefix: string; result: DeletedPrefixData }) {
  const { t } = useTranslation('deployments')
  const rows = [
    ...result.claims.map((claim) => ({ ...claim, key: claim.uid, label: t('deleteData.claim', { name: claim.name }) })),
    ...(result.namespace
      ? [{ ...result.namespace, key: 'namespace', label: t('deleteData.namespace', { prefix }) }]
      : []),
  ]
  return (
    <div role="alert" className="grid gap-2">
      <p>{t('deleteData.notAll', { prefix })}</p>
      <ul className="divide-y divide-line rounded-box border border-line">
        {rows.map(({ key, label, reason, state }) => (
          <li key={key} className="px-3 py-2 wrap-anywhere">
            {t(`deleteData.state.${state}`, { name: label })}
            {reason && <span className="block text-small text-ink-2">{reason}</span>}
          </li>
        ))}
      </ul>
    </div>
  )
}
