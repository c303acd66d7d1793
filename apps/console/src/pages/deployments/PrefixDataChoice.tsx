import type { PrefixData } from '@crux/contract'
import { useId } from 'react'
import { useTranslation } from 'react-i18next'
import { useDenied } from '../../api/me.ts'
import { Checkbox } from '../../components/Checkbox.tsx'
import { TimeAgo } from '../../components/TimeAgo.tsx'
import { type ChosenData, staysWithClaims, toggleClaim } from './prefix-data.ts'

type Props = { prefix: string; data: PrefixData; chosen: ChosenData; onChange: (chosen: ChosenData) => void }

const foreignShown = 5

/** The claims and the namespace that stay when the containers of a prefix are removed, each with a box for those who may delete them. */
export function PrefixDataChoice({ prefix, data, chosen, onChange }: Props) {
  const { t } = useTranslation('deployments')
  const denied = useDenied('prefix-data.delete')
  return (
    <section className="mt-4 grid gap-2" aria-label={t('deleteData.title', { prefix })}>
      <h3 className="font-strong">{t('deleteData.title', { prefix })}</h3>
      <p className="text-small text-ink-2">
        {denied ? t('deleteData.stays', { reason: denied }) : t('deleteData.help')}
      </p>
      <ul className="divide-y divide-line rounded-box border border-line">
        {data.claims.map((claim) => (
          <li key={claim.uid} className="px-3 py-2">
            <Choice
              isShown={!denied}
              checked={chosen.claims.some(({ uid }) => uid === claim.uid)}
              onChange={() => onChange(toggleClaim(data, chosen, claim))}
              label={t('deleteData.claim', { name: claim.name })}
              note={<ClaimNote claim={claim} />}
            />
          </li>
        ))}
        {data.namespace.exists && (
          <li className="px-3 py-2">
            <NamespaceChoice
              prefix={prefix}
              data={data}
              chosen={chosen}
              onChange={onChange}
              isDenied={denied !== null}
            />
          </li>
        )}
      </ul>
    </section>
  )
}

function ClaimNote({ claim }: { claim: PrefixData['claims'][number] }) {
  const { t } = useTranslation('deployments')
  const parts = [claim.size, claim.storageClass, claim.phase, claim.volumeName].filter(Boolean)
  return (
    <>
      {parts.join(' · ')}
      {claim.createdAt && (
        <>
          {' · '}
          {t('deleteData.created')} <TimeAgo at={claim.createdAt} />
        </>
      )}
    </>
  )
}

function NamespaceChoice({ prefix, data, chosen, onChange, isDenied }: Props & { isDenied: boolean }) {
  const { t } = useTranslation('deployments')
  const { foreignObjects, reason } = data.namespace
  const others = foreignObjects.slice(0, foreignShown).map(({ kind, name }) => `${kind} ${name}`)
  const more = foreignObjects.length > foreignShown ? ' …' : ''
  const stays = reason
    ? t('deleteData.stays', { reason })
    : others.length > 0
      ? t('deleteData.foreign', { objects: `${others.join(', ')}${more}` })
      : staysWithClaims(data, chosen) && !isDenied
        ? t('deleteData.allClaimsFirst')
        : null
  return (
    <Choice
      isShown={!isDenied}
      checked={chosen.namespace}
      isDisabled={stays !== null}
      onChange={(namespace) => onChange({ ...chosen, namespace })}
      label={t('deleteData.namespace', { prefix })}
      note={stays ?? (isDenied ? null : t('deleteData.namespaceHelp'))}
    />
  )
}

type ChoiceProps = {
  /** Without it there is no box, for those who may only see what stays. */
  isShown: boolean
  checked: boolean
  isDisabled?: boolean
  onChange: (checked: boolean) => void
  label: string
  note: React.ReactNode
}

function Choice({ isShown, checked, isDisabled = false, onChange, label, note }: ChoiceProps) {
  const id = useId()
  const text = (
    <span className="min-w-0 wrap-anywhere">
      {label}
      <span id={`${id}-note`} className="block text-small text-ink-2">
        {note}
      </span>
    </span>
  )
  if (!isShown) return text
  return (
    <label htmlFor={id} className="flex items-start gap-2">
      <span className="pt-0.5">
        <Checkbox
          id={id}
          checked={checked}
          disabled={isDisabled}
          onChange={onChange}
          describedBy={`${id}-note`}
          label={label}
        />
      </span>
      {text}
    </label>
  )
}
