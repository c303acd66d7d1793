import { useLocation } from '@tanstack/react-router'
import { Fingerprint, KeyRound, MonitorSmartphone, ShieldCheck, User } from 'lucide-react'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { PageHead } from '../../components/PageHead.tsx'
import { Tab, Tabs } from '../../components/Tabs.tsx'
import { links } from '../../links.ts'

const tabs = [
  { id: 'profile', icon: User, link: links.settings() },
  { id: 'signIn', icon: Fingerprint, link: links.signInMethods() },
  { id: 'factors', icon: ShieldCheck, link: links.secondFactors() },
  { id: 'sessions', icon: MonitorSmartphone, link: links.sessions() },
  { id: 'tokens', icon: KeyRound, link: links.tokens() },
] as const

/** The head that the pages about oneself share. */
export function AccountHead({ title, tools }: { title: string; tools?: ReactNode }) {
  const { t } = useTranslation('account')
  const path = useLocation({ select: (location) => location.pathname })
  return (
    <>
      <PageHead title={t('title')} fullTitle={title} crumb={title} tools={tools} />
      <Tabs label={t('title')}>
        {tabs.map((tab) => (
          <Tab
            key={tab.id}
            {...tab.link}
            icon={tab.icon}
            selected={path === tab.link.to || (tab.id === 'profile' && isPartOfProfile(path))}
          >
            {t(`tab.${tab.id}`)}
          </Tab>
        ))}
      </Tabs>
    </>
  )
}

const isPartOfProfile = (path: string): boolean => /\/(edit-profile|change-password)$/.test(path)
