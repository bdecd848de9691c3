import { useState } from 'react';

/** The player's own link. Phones open their sheet for sharing; other browsers copy the link. */
export function Share({ link }: { link: string | null | undefined }) {
  const [done, setDone] = useState('');
  if (!link) return null;
  const share = async () => {
    try {
      if ('share' in navigator) return await navigator.share({ title: 'A gift for you', url: link });
      await (navigator as Navigator).clipboard.writeText(link);
      setDone('The link is copied.');
    } catch {
      setDone('Nothing was shared. You can select the link above.');
    }
  };
  return (
    <section aria-labelledby="share" className="share">
      <h2 id="share">Invite friends</h2>
      <p>
        <a href={link}>{link.replace(/^https?:\/\//, '')}</a>
      </p>
      <button type="button" className="primary" onClick={share}>
        Share my link
      </button>
      <p role="status">{done}</p>
    </section>
  );
}
