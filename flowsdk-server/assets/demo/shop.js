"use strict";(()=>{document.getElementById("questions").addEventListener("click",()=>{(window.flowsdk||=[]).push(["open"])});})();
