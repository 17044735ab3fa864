// The script of the widget may come later than this one: then the call waits in the list.
document.getElementById('questions').addEventListener('click', () => {
  (window.flowsdk ||= []).push(['open']);
});
