import { Pencil } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useDenied } from '../../api/me.ts'
import { Box, DescriptionList } from '../../components/Box.tsx'
import { Button } from '../../components/Button.tsx'
import { Tag } from '../../components/Tag.tsx'
import { lazyComponent } from '../../loading/lazy-component.tsx'
import type { Team } from './members.ts'

const TeamSecurityForm = lazyComponent(async () => (await import('../../forms/team-security.tsx')).TeamSecurityForm)

/** The security settings of a team. Owners change them; all members see them. */
export function TeamSecurity({ team }: { team: Team }) {
  const { t } = useTranslation(['teams', 'common'])
  const denied = useDenied('teams.update-security')
  const [editing, setEditing] = useState(false)
  const { secondFactorRequired, allowedDomains } = team.security
  return (
    <Box
      title={t('security.title')}
      actions={
        <Button icon={Pencil} disabledReason={denied} onClick={() => setEditing(true)}>
          {t('common:edit')}
        </Button>
      }
    >
      <DescriptionList
        items={[
          {
            label: t('security.factor'),
            value: t(secondFactorRequired ? 'security.required' : 'security.notRequired'),
          },
          {
            label: t('security.domains'),
            value:
              allowedDomains.length === 0 ? (
                t('security.anyDomain')
              ) : (
                <span className="flex flex-wrap gap-1">
                  {allowedDomains.map((domain) => (
                    <Tag key={domain}>{domain}</Tag>
                  ))}
                </span>
              ),
          },
        ]}
      />
      {editing && !denied && <TeamSecurityForm team={team} onClose={() => setEditing(false)} />}
    </Box>
  )
}
