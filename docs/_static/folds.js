// Opens the fold of the section that the address names.
function openFold() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const fold = target?.closest('details.fold') ?? target?.querySelector(':scope > details.fold');
  if (fold) {
    fold.open = true;
    target.scrollIntoView();
  }
}
addEventListener('hashchange', openFold);
addEventListener('DOMContentLoaded', openFold);
